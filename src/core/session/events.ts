/**
 * What can happen to a chat. The runtime applies each event to its state, writes it to the store and sends it, numbered,
 * to every viewer; each of them runs the same reducer (reducer.ts), so host and page cannot disagree.
 *
 * Events announce; they never carry a command.
 */
import * as v from 'valibot';
import {
  messageSchema,
  messageStatusSchema,
  problemSchema,
  sessionSchema,
  toolCallSchema,
  usageSchema,
} from './model.ts';

/** Which window may write the chat: this one (or nobody yet), or another, which this one then only follows. */
export const ownerSchema = v.picklist(['here', 'elsewhere']);
export type Owner = v.InferOutput<typeof ownerSchema>;

/** How a turn ended: exactly one of these per turn. */
const stopReasonSchema = v.picklist(['complete', 'stopped', 'error']);
export type StopReason = v.InferOutput<typeof stopReasonSchema>;

export const turnSchema = v.object({
  id: v.string(),
  /** Unix time in milliseconds. */
  startedAt: v.number(),
  /** `waiting`: no answer yet; `streaming`: text or tools; `stopping`: the user pressed Stop. */
  phase: v.picklist(['waiting', 'streaming', 'stopping']),
});

const messageAdded = v.object({ type: v.literal('messageAdded'), message: messageSchema });
const textAppended = v.object({ type: v.literal('textAppended'), id: v.string(), text: v.string() });
const reasoningAppended = v.object({
  type: v.literal('reasoningAppended'),
  id: v.string(),
  text: v.string(),
});
const toolCallAdded = v.object({ type: v.literal('toolCallAdded'), id: v.string(), call: toolCallSchema });
const messageFinished = v.object({
  type: v.literal('messageFinished'),
  id: v.string(),
  status: messageStatusSchema,
  problem: v.nullable(problemSchema),
  usage: v.nullable(usageSchema),
  finishedAt: v.number(),
});
/** A retry replaced these rows. */
const messagesSuperseded = v.object({ type: v.literal('messagesSuperseded'), ids: v.array(v.string()) });
/** These messages are on disk, whole. */
const messagesSaved = v.object({ type: v.literal('messagesSaved'), ids: v.array(v.string()) });
/** Writing fails at the moment (null: works again); what is affected stays in memory. */
const savingChanged = v.object({ type: v.literal('savingChanged'), problem: v.nullable(problemSchema) });
const sessionChanged = v.object({ type: v.literal('sessionChanged'), session: sessionSchema });
const turnStarted = v.object({ type: v.literal('turnStarted'), turn: turnSchema });
const turnStopping = v.object({ type: v.literal('turnStopping') });
/** Another window took over writing this chat, or gave it free. */
const ownerChanged = v.object({ type: v.literal('ownerChanged'), owner: ownerSchema });
/** Where chats that begin like this one part from it, and which ways they go. */
export const forkSchema = v.object({
  /** The message after which they part; null: before the first. */
  after: v.nullable(v.string()),
  /** A chat for each way on, oldest first. */
  chats: v.array(v.string()),
  /** Which of them this chat goes. */
  current: v.number(),
});
export type Fork = Readonly<v.InferOutput<typeof forkSchema>>;

/** A branch was made or deleted. */
const forksChanged = v.object({ type: v.literal('forksChanged'), forks: v.array(forkSchema) });
const turnEnded = v.object({ type: v.literal('turnEnded'), stopReason: stopReasonSchema });
/** Older messages of the chat, for a viewer that asked for them; not numbered. */
const olderLoaded = v.object({
  type: v.literal('olderLoaded'),
  messages: v.array(messageSchema),
  hasOlder: v.boolean(),
});

export const chatEventSchema = v.variant('type', [
  messageAdded,
  textAppended,
  reasoningAppended,
  toolCallAdded,
  messageFinished,
  messagesSuperseded,
  messagesSaved,
  savingChanged,
  sessionChanged,
  turnStarted,
  turnStopping,
  turnEnded,
  ownerChanged,
  forksChanged,
  olderLoaded,
]);
export type ChatEvent = Readonly<v.InferOutput<typeof chatEventSchema>>;

/** What the agent loop may emit; the rest is the runtime's. */
export type AgentEvent = Extract<
  ChatEvent,
  {
    type:
      | 'messageAdded'
      | 'textAppended'
      | 'reasoningAppended'
      | 'toolCallAdded'
      | 'messageFinished'
      | 'turnEnded';
  }
>;
