/**
 * Chats as text for other programs and for people. Given piece by piece, one message in memory at a time, however large the
 * store is; between two pieces other windows may go on writing.
 */
import type { Message, Session } from '../../session/model.ts';
import { isArchived } from '../../session/reasons.ts';
import { chatTitle } from '../../session/title.ts';
import { lineageOf, tipOf } from '../lineage.ts';
import { getMessage } from '../messages.ts';
import { getSession, listSessions, requireSession } from '../sessions.ts';
import type { Store } from '../store.ts';
import type { ReadTransaction } from '../transaction.ts';
import { attempt, messagePlaces } from './records.ts';

export type ExportFormat = 'md' | 'json';

export interface ExportRequest {
  /** Null: every chat, archived ones included, latest activity first. */
  readonly sessionId: string | null;
  readonly format: ExportFormat;
  /** Told a sentence for each message that cannot be read; the export says so in its place. */
  readonly onUnreadable: (what: string) => void;
}

/** Chats asked for at a time. */
const pageSize = 200;

/** The pieces of the text, in order. Throws UnknownSessionError and StoreErrors. */
export function* exportChats(store: Store, request: ExportRequest): Generator<string> {
  const { format } = request;
  if (format === 'json') yield '{"format":"holdfast-export","version":1,"chats":[';
  let isFirst = true;
  for (const session of chatsOf(store, request)) {
    if (!isFirst) yield format === 'json' ? ',' : '\n';
    isFirst = false;
    yield* format === 'json' ? chatJson(store, session, request) : chatMarkdown(store, session, request);
  }
  if (format === 'json') yield '\n]}\n';
}

function* chatsOf(store: Store, { sessionId, onUnreadable }: ExportRequest): Generator<Session> {
  if (sessionId !== null) {
    yield store.read((reader) => {
      requireSession(reader, sessionId);
      return requireSession(reader, tipOf(reader, sessionId));
    });
    return;
  }
  // The ids of one moment: a chat that becomes active while others are written would be missed or given twice.
  for (const id of store.read((reader) => allChatIds(reader, onUnreadable))) {
    const session = store.read((reader) => getSession(reader, id));
    if (session !== null) yield session;
  }
}

function allChatIds(reader: ReadTransaction, onUnreadable: (what: string) => void): string[] {
  const ids: string[] = [];
  for (let before: Session | null = null; ;) {
    const page: Session[] = listSessions(reader, { limit: pageSize, before }, ({ message }) =>
      onUnreadable(message),
    );
    ids.push(...page.map(({ id }) => id));
    before = page.at(-1) ?? null;
    if (before === null || page.length < pageSize) return ids;
  }
}

function* chatJson(store: Store, session: Session, { onUnreadable }: ExportRequest): Generator<string> {
  const { id, workspaceUri, workspaceName, modelId, createdAt, lastActivityAt, pinned } = session;
  const archived = isArchived(session);
  const title = chatTitle(session);
  const facts = {
    id,
    title,
    archived,
    pinned,
    createdAt,
    lastActivityAt,
    modelId,
    workspaceUri,
    workspaceName,
  };
  yield `\n${JSON.stringify(facts).slice(0, -1)},"messages":[`;
  let isFirst = true;
  for (const { id: messageId, message } of messagesOf(store, id, onUnreadable)) {
    yield `${isFirst ? '' : ','}\n${JSON.stringify(message === null ? { id: messageId, unreadable: true } : { ...message, contents: undefined })}`;
    isFirst = false;
  }
  yield ']}';
}

const roleNames = { user: 'You', assistant: 'Assistant', tool: 'Tool', summary: 'Summary' } as const;

function* chatMarkdown(store: Store, session: Session, { onUnreadable }: ExportRequest): Generator<string> {
  const facts = [
    `- Chat: ${session.id}`,
    `- Begun: ${new Date(session.createdAt).toISOString()}`,
    ...(session.workspaceName === null ? [] : [`- Workspace: ${oneLine(session.workspaceName)}`]),
    ...(isArchived(session) ? ['- Archived'] : []),
  ];
  yield `# ${oneLine(chatTitle(session))}\n\n${facts.join('\n')}\n`;
  for (const { id, message } of messagesOf(store, session.id, onUnreadable)) {
    yield message === null ? `\n_The message ${id} cannot be read._\n` : messageMarkdown(message);
  }
}

function messageMarkdown(message: Message): string {
  const { role, status, active, toolName, createdAt, text, problem, toolCalls } = message;
  const notes = [
    ...(status === 'complete' ? [] : [status.replace('_', ' ')]),
    ...(active ? [] : ['replaced by a retry']),
  ];
  const name = role === 'tool' && toolName !== null ? `Tool ${toolName}` : roleNames[role];
  const head = `## ${name} · ${new Date(createdAt).toISOString()}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
  // What a tool gave is no Markdown of the chat: it must not end up as headings and links.
  const body = role === 'tool' && text !== '' ? fenced(text) : text;
  const calls = toolCalls.map((call) => `Asked for ${call.name}:\n\n${fenced(call.arguments)}`);
  const parts = [head, body, ...calls, ...(problem === null ? [] : [`> ${oneLine(problem.message)}`])];
  return parts.filter((part) => part !== '').reduce((all, part) => `${all}\n${part}\n`, '');
}

/** In a fence that the text cannot end. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** The messages as a panel shows them (see transcript.ts), oldest first; null: it cannot be read. */
function* messagesOf(
  store: Store,
  tipId: string,
  onUnreadable: (what: string) => void,
): Generator<{ id: string; message: Message | null }> {
  const path = store.read((reader) => lineageOf(reader, tipId));
  for (const [index, sessionId] of path.entries()) {
    let after = Number.MIN_SAFE_INTEGER;
    for (;;) {
      const places = store.read((reader) => messagePlaces(reader, sessionId, after, index > 0));
      for (const { id } of places) {
        const message = readMessage(store, id, onUnreadable);
        if (message !== 'gone') yield { id, message };
      }
      const last = places.at(-1);
      if (last === undefined) break;
      after = last.seq;
    }
  }
}

function readMessage(
  store: Store,
  id: string,
  onUnreadable: (what: string) => void,
): Message | 'gone' | null {
  return store.read((reader) =>
    attempt(`The message ${id}`, () => getMessage(reader, id, 'require') ?? 'gone', onUnreadable),
  );
}
