/** What is kept of a chat beyond its transcript, for later chats of the same workspace. */
import { rootOf } from '../store/lineage.ts';
import { getMemory, saveMemory, type Memory } from '../store/memories.ts';
import { getSession } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import { saidRows } from '../store/transcript.ts';
import type { ReadTransaction } from '../store/transaction.ts';
import { digestRows } from './digestRows.ts';

export interface MemoryProvider {
  /**
   * Called when a runtime is given up and when a chat is compacted; may be called again for the same session. `isChanged`: the
   * caller wrote to the chat; a chat that was only looked at is read again only if it is younger than what is kept of it.
   */
  commit(sessionId: string, isChanged: boolean): Promise<void>;
}

/** Keeps one digest per chat. */
export class DigestMemory implements MemoryProvider {
  readonly #store: Store;
  readonly #now: () => number;
  /** One after the other: what was read earlier must not replace what was read later. */
  #running: Promise<unknown> = Promise.resolve();

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Replaces what was kept of the chat; writes nothing if that is the same, or if there is nothing to keep. */
  commit(sessionId: string, isChanged: boolean): Promise<void> {
    const committed = this.#running.then(() => this.#commit(sessionId, isChanged));
    this.#running = committed.catch(() => undefined); // whoever asked for it is told
    return committed;
  }

  async #commit(sessionId: string, isChanged: boolean): Promise<void> {
    if (!isChanged && this.#store.read((reader) => isUpToDate(reader, sessionId))) return;
    const rows = this.#store.read((reader) =>
      getSession(reader, sessionId) === null ? [] : saidRows(reader, sessionId),
    );
    const text = await digestRows(this.#store, rows);
    if (text === '') return;
    const memory = this.#store.read((reader) => newMemory(reader, sessionId, text, this.#now()));
    if (memory === null) return;
    await this.#store.write((writer) => {
      // Deleted by another window since: nothing of it may come back.
      if (getSession(writer, sessionId) !== null) saveMemory(writer, memory);
    });
  }
}

/** Of the chat, not of the row: a compaction replaces what was kept instead of keeping it twice. */
export function digestId(reader: ReadTransaction, sessionId: string): string {
  return `digest:${rootOf(reader, sessionId)}`;
}

/** The caller's writes are not looked at: a clock that was set back hides them. */
function isUpToDate(reader: ReadTransaction, sessionId: string): boolean {
  const session = getSession(reader, sessionId);
  const known = session === null ? null : getMemory(reader, digestId(reader, sessionId));
  return session !== null && known !== null && known.updatedAt >= session.lastActivityAt;
}

/** Null: there is nothing new to keep. */
function newMemory(reader: ReadTransaction, sessionId: string, text: string, now: number): Memory | null {
  const session = getSession(reader, sessionId);
  if (session === null) return null;
  const id = digestId(reader, sessionId);
  const { workspaceUri } = session;
  const known = getMemory(reader, id);
  const isSame = known?.text === text && known.workspaceUri === workspaceUri;
  if (isSame && known.updatedAt >= session.lastActivityAt) return null;
  return {
    id,
    workspaceUri,
    text,
    sourceSessionId: sessionId,
    createdAt: known?.createdAt ?? now,
    updatedAt: Math.max(now, session.lastActivityAt),
  };
}
