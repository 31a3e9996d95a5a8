/**
 * What a chat is made of. The valibot schemas are the one definition: the types are inferred from them, rows read back
 * from the store and messages that cross to the webview are parsed with them, so nothing is ever cast.
 *
 * Absent values are `null`, never `undefined`: the same shape then survives SQLite, JSON and `postMessage`.
 */
import * as v from 'valibot';

/** Who made the session. Decides what automatic cleanup may do to its row. */
const sourceSchema = v.picklist(['panel', 'cli', 'api']);
export type Source = v.InferOutput<typeof sourceSchema>;

/** How a session came from its parent. Only `compaction` continues the same chat; the column says so, it is never inferred. */
export const edgeSchema = v.picklist(['compaction', 'branch', 'reset']);

export const endReasonSchema = v.picklist([
  'panel_closed',
  'orphan_reap',
  'idle_timeout',
  'lru_evict',
  'host_shutdown',
  'crash',
  'archived',
  'session_reset',
  'compaction',
]);
export type EndReason = v.InferOutput<typeof endReasonSchema>;

/** `none`: not titled yet, shown by its preview; `auto`: derived from the first prompt; `user`: chosen, never overridden. */
const titleSourceSchema = v.picklist(['none', 'auto', 'user']);

/** `summary` rows are written by compaction: the model reads them as context, the panel shows them folded. */
export const roleSchema = v.picklist(['user', 'assistant', 'tool', 'summary']);

export const messageStatusSchema = v.picklist(['complete', 'streaming', 'interrupted', 'error', 'not_sent']);
export type MessageStatus = v.InferOutput<typeof messageStatusSchema>;

/** A model's request to run a tool. `arguments` is the JSON text exactly as the model wrote it; it may be malformed. */
export const toolCallSchema = v.object({ id: v.string(), name: v.string(), arguments: v.string() });
export type ToolCall = Readonly<v.InferOutput<typeof toolCallSchema>>;

export const usageSchema = v.object({ inputTokens: v.number(), outputTokens: v.number() });
export type Usage = Readonly<v.InferOutput<typeof usageSchema>>;

/** Why a message failed: `reason` is for programs, `message` a sentence for the user that says what to do. */
export const problemSchema = v.object({ reason: v.string(), message: v.string() });
export type Problem = Readonly<v.InferOutput<typeof problemSchema>>;

const contentsSchema = v.picklist(['here', 'left', 'unreadable']);

/**
 * One row of the transcript. A turn is a user row, then assistant rows (one per request to the model) each followed by
 * a tool row per tool call. Text only ever grows while `status` is `streaming`.
 */
export const messageSchema = v.object({
  /** ULID, made by the writer; a flush that repeats it adds nothing. */
  id: v.string(),
  sessionId: v.string(),
  /** Position in its session, from 1, without gaps at the end; assigned by the writer. */
  seq: v.number(),
  role: roleSchema,
  status: messageStatusSchema,
  text: v.string(),
  reasoning: v.string(),
  /** Of an assistant row: the tools it asked for. */
  toolCalls: v.array(toolCallSchema),
  /**
   * Whether text, reasoning and tool calls are `here`. Large ones stand in a file: `left` there until somebody looks at them, or
   * `unreadable` because it is missing or damaged.
   */
  contents: contentsSchema,
  /** Of a tool row: the call it answers and the tool's name. */
  toolCallId: v.nullable(v.string()),
  toolName: v.nullable(v.string()),
  problem: v.nullable(problemSchema),
  /** False once a retry replaced it: still shown (folded), no longer sent to a model. */
  active: v.boolean(),
  /** Of a row that compaction carried over into the child: the id of the original. Sent to the model, not shown twice. */
  copyOf: v.nullable(v.string()),
  /** Unix time in milliseconds. */
  createdAt: v.number(),
  finishedAt: v.nullable(v.number()),
  modelId: v.nullable(v.string()),
  usage: v.nullable(usageSchema),
});
export type Message = Readonly<v.InferOutput<typeof messageSchema>>;

/** The durable row of a chat. */
export const sessionSchema = v.object({
  id: v.string(),
  source: sourceSchema,
  title: v.string(),
  titleSource: titleSourceSchema,
  workspaceUri: v.nullable(v.string()),
  workspaceName: v.nullable(v.string()),
  modelId: v.nullable(v.string()),
  parentId: v.nullable(v.string()),
  edge: v.nullable(edgeSchema),
  /** Of a branch: how many of the messages that its parent's chat shows it begins with; null: no branch, or not known. */
  branchedAfter: v.nullable(v.number()),
  /** Unix times in milliseconds. */
  createdAt: v.number(),
  lastActivityAt: v.number(),
  /** Journal sequence number of the last activity: fences compare it, because clocks can be set back. */
  lastActivitySeq: v.number(),
  endedAt: v.nullable(v.number()),
  endReason: v.nullable(endReasonSchema),
  pinned: v.boolean(),
  messageCount: v.number(),
  /** First words of the first prompt that has any; empty for a chat without text. */
  preview: v.string(),
  inputTokens: v.number(),
  outputTokens: v.number(),
});
export type Session = Readonly<v.InferOutput<typeof sessionSchema>>;

/**
 * What the user had typed and not sent. `scroll` is a pixel offset from the transcript's top, or null at its end.
 * `editedAt` (Unix time in milliseconds; when the text changed, also by sending it) decides between the page's copy and the
 * stored one: the newer wins, so that a sent text never returns and a keystroke is never lost.
 */
export const draftSchema = v.object({
  text: v.string(),
  caret: v.number(),
  scroll: v.nullable(v.number()),
  editedAt: v.number(),
});
export type Draft = Readonly<v.InferOutput<typeof draftSchema>>;

export const emptyDraft: Draft = { text: '', caret: 0, scroll: null, editedAt: 0 };

/** A session that is not stored yet: nothing is written for a chat until it has a prompt or a draft. */
export function makeSession(
  overrides: Pick<Session, 'id' | 'source' | 'createdAt'> & Partial<Session>,
): Session {
  return {
    title: '',
    titleSource: 'none',
    workspaceUri: null,
    workspaceName: null,
    modelId: null,
    parentId: null,
    edge: null,
    branchedAfter: null,
    lastActivityAt: overrides.createdAt,
    lastActivitySeq: 0,
    endedAt: null,
    endReason: null,
    pinned: false,
    messageCount: 0,
    preview: '',
    inputTokens: 0,
    outputTokens: 0,
    ...overrides,
  };
}

/** A message with everything absent but what is given. */
export function makeMessage(
  overrides: Pick<Message, 'id' | 'sessionId' | 'seq' | 'role' | 'createdAt'> & Partial<Message>,
): Message {
  return {
    status: 'complete',
    text: '',
    reasoning: '',
    toolCalls: [],
    contents: 'here',
    toolCallId: null,
    toolName: null,
    problem: null,
    active: true,
    copyOf: null,
    finishedAt: null,
    modelId: null,
    usage: null,
    ...overrides,
  };
}
