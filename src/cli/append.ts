/**
 * `holdfast append`: messages from standard input, each acknowledged by its id on standard output once it is on disk. What was
 * acknowledged stays, whatever happens to the rest.
 */
import { ulid } from 'ulid';
import * as v from 'valibot';
import { makeMessage, makeSession, roleSchema } from '../core/session/model.ts';
import { isArchived, isRecoverable, mayEndAutomatically } from '../core/session/reasons.ts';
import { acquireLease, getLease, isHeldByOther, releaseLease } from '../core/store/leases.ts';
import { lineageMembers, tipOf } from '../core/store/lineage.ts';
import { insertMessage } from '../core/store/messages.ts';
import { wasShownByPanel } from '../core/store/routes.ts';
import { endSession, getSession, insertSession, reopenSession } from '../core/store/sessions.ts';
import type { Store } from '../core/store/store.ts';
import type { WriteTransaction } from '../core/store/transaction.ts';

const lineSchema = v.object({ id: v.pipe(v.string(), v.nonEmpty()), role: roleSchema, text: v.string() });
type Line = v.InferOutput<typeof lineSchema>;

export type AppendReason = 'malformed_line' | 'archived' | 'id_taken';

/** A line that cannot be added, and why. */
export class AppendError extends Error {
  readonly reason: AppendReason;

  constructor(reason: AppendReason, message: string) {
    super(message);
    this.name = 'AppendError';
    this.reason = reason;
  }
}

export interface AppendRequest {
  readonly sessionId: string;
  readonly title: string | null;
  /** How many appends may be in flight. */
  readonly window: number;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** Called with each id once it is on disk, in order. */
  readonly acknowledge: (id: string) => void;
}

/** Throws AppendError for what is not `{"id","role","text"}`. `number`: of the line, from 1. */
function parseLine(text: string, number: number): Line {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new AppendError('malformed_line', `Line ${number} is not JSON: ${String(error)}`);
  }
  const parsed = v.safeParse(lineSchema, json);
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  const where = v.getDotPath(issue) ?? 'the line';
  throw new AppendError(
    'malformed_line',
    `Line ${number} is not {"id","role","text"}: ${where}: ${issue.message}`,
  );
}

export class Appender {
  readonly #store: Store;
  readonly #request: AppendRequest;
  readonly #runtimeId = ulid();
  #pending: Promise<void>[] = [];
  #failure: Error | null = null;

  constructor(store: Store, request: AppendRequest) {
    this.#store = store;
    this.#request = request;
  }

  /** Adds all lines, blank ones left out. Rejects with the first AppendError or StoreError; the lines before it are kept. */
  async run(lines: AsyncIterable<string>): Promise<void> {
    let number = 0;
    try {
      for await (const text of lines) {
        number += 1;
        if (text.trim() === '') continue;
        this.#add(parseLine(text, number));
        while (this.#pending.length >= this.#request.window) await this.#pending[0];
        if (this.#failure !== null) break;
      }
    } finally {
      await Promise.all(this.#pending);
    }
    if (this.#failure !== null) throw this.#failure;
  }

  /**
   * The process is asked to end. Cleanup is not intent: this ends the row only if it is nobody's panel chat and nobody else
   * writes it, and the next append wakes it.
   */
  async shutDown(): Promise<void> {
    const { sessionId, now } = this.#request;
    await this.#store.write((writer) => {
      const session = getSession(writer, sessionId);
      if (session === null || !mayEndAutomatically(session, false, wasShownByPanel(writer, sessionId)))
        return;
      if (isHeldByOther(writer, sessionId, this.#runtimeId, this.#isWindowAlive)) return;
      endSession(writer, sessionId, 'host_shutdown', now());
    });
  }

  /** Starts writing the line; its place in the chat is decided when this returns. */
  #add(line: Line): void {
    const done = this.#store
      .write((writer) => this.#insert(writer, line))
      .then(
        () => this.#request.acknowledge(line.id),
        (error: unknown) => {
          this.#failure ??= error instanceof Error ? error : new Error(String(error));
        },
      )
      .then(() => {
        this.#pending = this.#pending.filter((other) => other !== done);
      });
    this.#pending.push(done);
  }

  #insert(writer: WriteTransaction, line: Line): void {
    const sessionId = this.#prepareSession(writer);
    const known = writer.get('SELECT session_id FROM messages WHERE id = ?', [line.id])?.['session_id'];
    if (known !== undefined) {
      if (known === sessionId || lineageMembers(writer, sessionId).some((member) => member === known)) return;
      throw new AppendError('id_taken', `The id ${line.id} belongs to a message of another chat.`);
    }
    this.#own(writer, sessionId);
    const now = this.#request.now();
    const message = makeMessage({
      ...line,
      sessionId,
      seq: 0, // given by the store
      createdAt: now,
      finishedAt: now,
    });
    insertMessage(writer, message);
  }

  /** The row the chat goes on in; made if there is none, woken if cleanup had ended it. Throws AppendError. */
  #prepareSession(writer: WriteTransaction): string {
    const { sessionId, title, now } = this.#request;
    let session = getSession(writer, sessionId);
    if (session === null) {
      const titled = title === null ? {} : { title, titleSource: 'user' as const };
      insertSession(writer, makeSession({ id: sessionId, source: 'cli', createdAt: now(), ...titled }));
      return sessionId;
    }
    if (session.endReason === 'compaction') session = getSession(writer, tipOf(writer, sessionId)) ?? session;
    if (session.endReason === null) return session.id;
    if (isArchived(session)) {
      throw new AppendError('archived', `The chat ${sessionId} is archived. Reopen it to go on.`);
    }
    if (isRecoverable(session.endReason)) reopenSession(writer, session.id);
    return session.id;
  }

  /**
   * A whole message is one transaction, so the lease is held for its length only: several appends can share a chat, and a
   * waiting input keeps no window from writing. Throws SessionNotOwnedError if a live window holds it.
   */
  #own(writer: WriteTransaction, sessionId: string): void {
    if (getLease(writer, sessionId)?.isHeld !== true) return; // taking and releasing it here would change nothing
    const { windowId } = this.#store;
    const lease = acquireLease(writer, {
      sessionId,
      windowId,
      runtimeId: this.#runtimeId,
      now: this.#request.now(),
      isWindowAlive: this.#isWindowAlive,
    });
    releaseLease(writer, lease);
  }

  readonly #isWindowAlive = (windowId: string): boolean => this.#store.isWindowAlive(windowId);
}
