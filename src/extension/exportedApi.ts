/** The API of api.ts on the core behind the editor. It hands out copies, and waits for no listener. */
import { ulid } from 'ulid';
import * as vscode from 'vscode';
import type { LifecycleHooks } from '../core/runtime/hooks.ts';
import type { ChatRuntime } from '../core/runtime/chatRuntime.ts';
import { answerTo } from '../core/session/answer.ts';
import type { Message, Session } from '../core/session/model.ts';
import { isArchived } from '../core/session/reasons.ts';
import { chatTitle } from '../core/session/title.ts';
import { getSession, listSessions, requireSession } from '../core/store/sessions.ts';
import { readableText } from '../core/session/text.ts';
import { displayMessages } from '../core/store/transcript.ts';
import type {
  ApiChat,
  ChatMessage,
  ChatSession,
  CreateOptions,
  HoldfastApi,
  MessageList,
  MessagePage,
  ReclaimedEvent,
  SessionEndEvent,
  SessionFilter,
  SessionFinalizeEvent,
} from './api.ts';
import { checkCreateOptions, checkFilter, checkId, checkPage, checkText } from './apiArguments.ts';
import type { CoreAccess } from './core.ts';
import { Pace } from './pace.ts';
import type { ChatPanels } from './panels.ts';
import { workspaceIdentity } from './workspaceIdentity.ts';

const defaultLimit = 100;

export interface ExportedApiServices {
  readonly core: CoreAccess;
  readonly hooks: LifecycleHooks;
  readonly panels: ChatPanels;
}

export class ExportedApi implements HoldfastApi, vscode.Disposable {
  readonly version = 1;
  readonly #services: ExportedApiServices;
  // The editor's emitters log what a listener throws, and go on. They are not disposed of: they still have to tell of the
  // runtimes that are given up while the window goes, which is after its disposables.
  readonly #sessionEnd = new vscode.EventEmitter<SessionEndEvent>();
  readonly #sessionFinalize = new vscode.EventEmitter<SessionFinalizeEvent>();
  readonly #reclaimed = new vscode.EventEmitter<ReclaimedEvent>();
  readonly #sessionsChanged = new vscode.EventEmitter<void>();
  readonly #pace = new Pace(() => this.#sessionsChanged.fire());
  readonly onSessionEnd = this.#sessionEnd.event;
  readonly onSessionFinalize = this.#sessionFinalize.event;
  readonly onReclaimed = this.#reclaimed.event;
  readonly onSessionsChanged = this.#sessionsChanged.event;

  constructor(services: ExportedApiServices) {
    this.#services = services;
    const { core, hooks } = services;
    hooks.onSessionEnd((payload) => this.#sessionEnd.fire(Object.freeze({ ...payload })));
    hooks.onSessionFinalize((payload) => this.#sessionFinalize.fire(Object.freeze({ ...payload })));
    hooks.onReclaimed((payload) => this.#reclaimed.fire(Object.freeze({ ...payload })));
    core.onDidOpen(({ registry }) => {
      registry.onDidChange(() => this.#pace.soon());
    });
  }

  async listSessions(filter?: SessionFilter): Promise<ChatSession[]> {
    const { archived = null, workspaceUri = null, limit = defaultLimit } = checkFilter(filter);
    const { store } = await this.#services.core.get();
    const sessions = store.read((reader) => listSessions(reader, { archived, workspaceUri, limit }));
    return sessions.map((session) => this.#toChatSession(session));
  }

  async getSession(id: string): Promise<ChatSession | undefined> {
    const sessionId = checkId(id);
    const { store } = await this.#services.core.get();
    const session = store.read((reader) => getSession(reader, sessionId));
    return session === null ? undefined : this.#toChatSession(session);
  }

  async getMessages(id: string, page?: MessagePage): Promise<MessageList> {
    const sessionId = checkId(id);
    const { before = null, limit = defaultLimit } = checkPage(page);
    const { store } = await this.#services.core.get();
    const { messages, hasOlder } = store.read((reader) => {
      requireSession(reader, sessionId);
      return displayMessages(reader, sessionId, { before, limit });
    });
    return { messages: messages.map(toChatMessage), hasOlder };
  }

  async create(options: CreateOptions): Promise<ApiChat> {
    const { source, title, modelId } = checkCreateOptions(options);
    const { registry } = await this.#services.core.get();
    const { uri, name } = workspaceIdentity();
    const runtime = await registry.openOrCreate({
      id: ulid(),
      source,
      workspaceUri: uri,
      workspaceName: name,
      modelId: modelId ?? null,
      ...(title === undefined ? {} : { title }),
    });
    await runtime.own();
    return this.#chat(runtime.session.id);
  }

  async resume(id: string): Promise<ApiChat> {
    const sessionId = checkId(id);
    const { store } = await this.#services.core.get();
    const { source } = store.read((reader) => requireSession(reader, sessionId));
    if (source !== 'api') {
      throw new Error(`The chat ${sessionId} was not made by an extension; it can be read, not resumed.`);
    }
    return this.#chat(sessionId);
  }

  dispose(): void {
    this.#pace.dispose();
  }

  /** Holds no runtime: cleanup gives it back whenever nothing runs, and the next use opens it again. */
  #chat(sessionId: string): ApiChat {
    const { core, panels } = this.#services;
    const opened = async (): Promise<ChatRuntime> => (await core.get()).registry.open(sessionId);
    return {
      sessionId,
      send: async (text) => {
        const prompt = checkText(text);
        const runtime = await opened();
        const promptId = ulid();
        await runtime.send(promptId, prompt);
        await runtime.answered();
        const answer = answerTo(runtime.state.messages, promptId);
        if (answer === null) throw new Error('The prompt is stored; the window went before it was answered.');
        return toChatMessage(answer);
      },
      stop: async () => (await opened()).stop(),
      show: async () => {
        await core.get();
        panels.open(sessionId);
      },
    };
  }

  #toChatSession(session: Session): ChatSession {
    return {
      id: session.id,
      source: session.source,
      title: chatTitle(session),
      workspaceUri: session.workspaceUri,
      workspaceName: session.workspaceName,
      modelId: session.modelId,
      parentId: session.parentId,
      edge: session.edge,
      createdAt: session.createdAt,
      lastActivityAt: session.lastActivityAt,
      endedAt: session.endedAt,
      endReason: session.endReason,
      isArchived: isArchived(session),
      isRunning: this.#services.core.current?.registry.isRunning(session.id) ?? false,
      isPinned: session.pinned,
      messageCount: session.messageCount,
      inputTokens: session.inputTokens,
      outputTokens: session.outputTokens,
    };
  }
}

function toChatMessage(message: Message): ChatMessage {
  return {
    id: message.id,
    sessionId: message.sessionId,
    role: message.role,
    status: message.status,
    text: readableText(message),
    reasoning: message.reasoning,
    toolCalls: message.toolCalls.map((call) => ({ ...call })),
    toolCallId: message.toolCallId,
    toolName: message.toolName,
    problem: message.problem === null ? null : { ...message.problem },
    isActive: message.active,
    createdAt: message.createdAt,
    finishedAt: message.finishedAt,
    modelId: message.modelId,
  };
}
