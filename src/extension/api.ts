/**
 * What Holdfast offers to other extensions, version 1. Only types stand here: the build copies this file to `dist/api.d.ts`,
 * and an extension that uses the API copies that into its own sources.
 *
 *     const holdfast = vscode.extensions.getExtension<HoldfastApi>('holdfast.holdfast-chat');
 *     const api = await holdfast?.activate();
 *     api?.onSessionEnd(({ sessionId }) => console.log(`given up: ${sessionId}`));
 *
 * What a listener throws or rejects with is logged by VS Code; nothing waits for a listener, so one that hangs holds up
 * nothing. What is handed out is a copy: changing it changes no chat. A promise rejects with an Error whose message is a
 * sentence for the user, such as that the chat storage folder cannot be used.
 */
import type { Event } from 'vscode';

export interface HoldfastApi {
  /** Raised by a change that could break a user of the API; what is only added leaves it as it is. */
  readonly version: 1;

  /**
   * A runtime, the in-memory side of a chat in this window, is given up. What was said is on disk by then. It says nothing
   * about the chat, which goes on unless `ChatSession.endReason` says otherwise.
   */
  readonly onSessionEnd: Event<SessionEndEvent>;
  /** The same runtime's teardown is done up to the question whether the chat's row ends, which may still be open. */
  readonly onSessionFinalize: Event<SessionFinalizeEvent>;
  /** A runtime is gone for a reason of cleanup (the panel was closed, nothing happened for long, the window goes …). */
  readonly onReclaimed: Event<ReclaimedEvent>;
  /**
   * Chats were added or changed, by this window or another. Fires at most a few times a second while answers stream; read
   * again what you show.
   */
  readonly onSessionsChanged: Event<void>;

  /** Latest activity first, one entry per chat; chats without a message and without typed text are left out. */
  listSessions(filter?: SessionFilter): Promise<ChatSession[]>;
  /** Undefined: there is no such session. */
  getSession(sessionId: string): Promise<ChatSession | undefined>;
  /**
   * The chat's transcript as a panel shows it, through all compactions, oldest first. Rejects when there is no such session.
   */
  getMessages(sessionId: string, page?: MessagePage): Promise<MessageList>;

  /**
   * Makes a chat of source `api`. It is stored at once, and listed once it has a message. Cleanup may end its row, which
   * loses nothing and which the next prompt undoes, until a panel has shown it: from then on only Archive ends it.
   */
  create(options: CreateOptions): Promise<ApiChat>;
  /** A chat that `create` made, also in another window or before a restart. Rejects for one of another source. */
  resume(sessionId: string): Promise<ApiChat>;
}

export interface CreateOptions {
  readonly source: 'api';
  /** Shown in the list; absent: the first words of the first prompt. */
  readonly title?: string;
  /** As in `holdfast.providers`: `provider/model`. Absent: the model that a new panel would have. */
  readonly modelId?: string;
}

export interface ApiChat {
  readonly sessionId: string;
  /**
   * Sends a prompt, which is on disk before the model is asked, and resolves with the last row of the answer when it is
   * over: complete, stopped or failed (see `ChatMessage.status`). Rejects when the prompt was not taken: while an answer
   * runs, when the chat is archived or written by another window, and when the store refuses.
   */
  send(text: string): Promise<ChatMessage>;
  /** Stops a running answer and keeps its text. */
  stop(): Promise<void>;
  /** Shows the chat in a panel. */
  show(): Promise<void>;
}

export interface SessionEndEvent {
  readonly sessionId: string;
  readonly completed: false;
  readonly interrupted: true;
  /** Null: the default model, nothing was asked yet. */
  readonly model: string | null;
  readonly source: SessionSource;
}

export interface SessionFinalizeEvent {
  readonly sessionId: string;
  readonly source: SessionSource;
}

export interface ReclaimedEvent {
  readonly runtimeId: string;
  readonly sessionId: string;
  readonly reason: EndReason;
}

/** Who made a chat. */
type SessionSource = 'panel' | 'cli' | 'api';

/** `archived` and `session_reset` are the user's, `compaction` means that the chat goes on in another row, all others are cleanup. */
type EndReason =
  | 'panel_closed'
  | 'orphan_reap'
  | 'idle_timeout'
  | 'lru_evict'
  | 'host_shutdown'
  | 'crash'
  | 'archived'
  | 'session_reset'
  | 'compaction';

export interface SessionFilter {
  /** True: archived chats only; false: all others; absent: both. */
  readonly archived?: boolean;
  /** As in `ChatSession.workspaceUri`. Absent: of every workspace. */
  readonly workspaceUri?: string;
  /** Absent: 100. */
  readonly limit?: number;
}

/** Times are Unix times in milliseconds. */
export interface ChatSession {
  readonly id: string;
  readonly source: SessionSource;
  readonly title: string;
  /** Where it was made: the workspace file, else the first folder; null: without a workspace. */
  readonly workspaceUri: string | null;
  readonly workspaceName: string | null;
  /** Null: the default model, nothing was asked yet. */
  readonly modelId: string | null;
  /** The row it came from, and how. */
  readonly parentId: string | null;
  readonly edge: 'compaction' | 'branch' | 'reset' | null;
  readonly createdAt: number;
  readonly lastActivityAt: number;
  /** Null: the row is open. */
  readonly endedAt: number | null;
  readonly endReason: EndReason | null;
  readonly isArchived: boolean;
  /** An answer runs in this window. */
  readonly isRunning: boolean;
  readonly isPinned: boolean;
  readonly messageCount: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

export interface MessagePage {
  /** Only what is shown above the message with this id; absent: from the end. */
  readonly before?: string;
  /** The newest ones; absent: 100. */
  readonly limit?: number;
}

export interface MessageList {
  readonly messages: ChatMessage[];
  readonly hasOlder: boolean;
}

/** A row of a transcript. A turn is a `user` row, then an `assistant` row per request to the model, each followed by a `tool` row per tool call. */
export interface ChatMessage {
  readonly id: string;
  readonly sessionId: string;
  readonly role: 'user' | 'assistant' | 'tool' | 'summary';
  /** `interrupted`: stopped, or cut off by a crash; its text so far is kept. */
  readonly status: 'complete' | 'streaming' | 'interrupted' | 'error' | 'not_sent';
  readonly text: string;
  readonly reasoning: string;
  /** Of an assistant row; `arguments` is the JSON text as the model wrote it. */
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  /** Of a tool row: the call it answers. */
  readonly toolCallId: string | null;
  readonly toolName: string | null;
  /** Why it failed: `reason` for programs, `message` for the user. */
  readonly problem: { readonly reason: string; readonly message: string } | null;
  /** False: replaced by a retry, and no longer sent to a model. */
  readonly isActive: boolean;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  readonly modelId: string | null;
}
