/**
 * Writes what changes in a chat's messages to the store, soon enough to keep the loss bound and seldom enough to stay cheap.
 *
 * It works from the state, not from the events: it remembers how much of each message it has stored and writes the rest. A
 * write that failed is therefore simply tried again, with whatever came since; each message carries its id, so a repeat can
 * only add what is missing. After a failure the whole message is written instead of an appended piece, because a write whose
 * sync failed may have landed all the same.
 */
import { byteLength } from '../session/text.ts';
import type { Message, Problem } from '../session/model.ts';
import {
  appendMessageText,
  finishMessage,
  insertMessage,
  setMessageContents,
  setMessageToolCalls,
  supersedeMessages,
} from '../store/messages.ts';
import type { WriteTransaction } from '../store/transaction.ts';
import { describeStoreProblem } from './problems.ts';

/** Streamed text is on disk at most this long after it arrived (the loss bound of 250 ms, less the time a sync takes). */
const flushAfterMs = 200;
/** Or as soon as this many bytes wait. */
const flushAfterBytes = 2048;
/** Pause before a failed write is tried again; doubles up to the last value. */
const firstRetryMs = 1000;
const lastRetryMs = 30_000;

export interface RecorderOptions {
  /** Runs a transaction of the chat's runtime; its promise resolves when it is durable. */
  readonly write: (change: (writer: WriteTransaction) => void) => Promise<void>;
  /** The message as it is now; undefined when the runtime does not know it. */
  readonly message: (id: string) => Message | undefined;
  readonly onSaved: (ids: readonly string[]) => void;
  readonly onProblem: (problem: Problem | null) => void;
  /** Whether an error means that this runtime may not write the chat any more: then nothing is tried again. */
  readonly isFinal: (error: unknown) => boolean;
}

/** How much of a message was written. */
interface Stored {
  text: number;
  reasoning: number;
  toolCalls: number;
  status: Message['status'];
  active: boolean;
}

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #stored = new Map<string, Stored>();
  readonly #dirty = new Set<string>();
  /** What writes under way hold; they may fail yet. */
  readonly #underWay = new Set<readonly Message[]>();
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | null = null;
  #retryMs = firstRetryMs;
  #problem: Problem | null = null;
  /** Set after a failure: what is stored is not known exactly, so whole messages are written. */
  #uncertain = new Set<string>();
  #writes: Promise<void> = Promise.resolve();
  /** The last write was refused for good: what waits is not ours to write, and is kept for as long as the chat is shown. */
  #isRefused = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Whether anything is not written yet that this runtime may still write. */
  get hasUnwritten(): boolean {
    return this.#dirty.size > 0 && !this.#isRefused;
  }

  /** What is not known to be on disk and may still be written by this runtime. */
  unwritten(): Message[] {
    if (this.#isRefused) return [];
    const ids = new Set([...this.#underWay].flatMap((messages) => messages.map(({ id }) => id)));
    for (const id of this.#dirty) ids.add(id);
    // Contents that were left in the store are there.
    return this.#messages(ids).filter(({ contents }) => contents === 'here');
  }

  /** The last write failed, and the next one has not succeeded yet. */
  get isFailing(): boolean {
    return this.#problem !== null;
  }

  /** Text was added to a message; written within the loss bound. */
  textAdded(id: string, text: string): void {
    this.#dirty.add(id);
    this.#waitingBytes += byteLength(text);
    if (this.#problem !== null) return; // the retry timer runs
    if (this.#waitingBytes >= flushAfterBytes) void this.flush();
    else this.#schedule(flushAfterMs);
  }

  /** Anything else about a message changed; written at once, together with all that waits. */
  changed(ids: readonly string[]): void {
    for (const id of ids) this.#dirty.add(id);
    if (this.#problem === null) void this.flush();
  }

  /**
   * Writes all that waits, now. Resolves when it is durable, or when the write failed (then `onProblem` was told, the
   * messages stay waiting and are tried again). The store's state changes within this call, so the order of calls is kept.
   */
  flush(): Promise<void> {
    this.#cancelTimer();
    if (this.#dirty.size === 0) return this.#writes;
    const written = this.#messages(this.#dirty);
    this.#underWay.add(written);
    this.#dirty.clear();
    this.#waitingBytes = 0;
    const stored = this.#stored;
    const write = this.#options
      .write((writer) => {
        for (const message of written) {
          writeMessage(writer, message, stored.get(message.id), this.#uncertain.has(message.id));
        }
      })
      .then(
        () => this.#succeeded(written),
        (error: unknown) => this.#failed(written, error),
      );
    // What later calls compare with: the transaction has run by now, only its sync is under way.
    for (const message of written) this.#stored.set(message.id, storedOf(message));
    this.#writes = Promise.all([this.#writes, write]).then(() => undefined);
    return write;
  }

  /** Stops the timers; what waits stays waiting. */
  dispose(): void {
    this.#cancelTimer();
  }

  #messages(ids: ReadonlySet<string>): Message[] {
    return [...ids].flatMap((id) => this.#options.message(id) ?? []);
  }

  #succeeded(written: readonly Message[]): void {
    this.#underWay.delete(written);
    for (const message of written) this.#uncertain.delete(message.id);
    this.#retryMs = firstRetryMs;
    this.#isRefused = false;
    if (this.#problem !== null) {
      this.#problem = null;
      this.#options.onProblem(null);
    }
    const whole = written.filter((message) => !this.#dirty.has(message.id) && message.status !== 'streaming');
    if (whole.length > 0) this.#options.onSaved(whole.map((message) => message.id));
  }

  #failed(written: readonly Message[], error: unknown): void {
    this.#underWay.delete(written);
    for (const message of written) {
      this.#dirty.add(message.id);
      this.#uncertain.add(message.id);
    }
    this.#problem = describeStoreProblem(error);
    this.#options.onProblem(this.#problem);
    this.#isRefused = this.#options.isFinal(error);
    if (this.#isRefused) return;
    this.#schedule(this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, lastRetryMs);
  }

  #schedule(milliseconds: number): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => void this.flush(), milliseconds);
  }

  #cancelTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}

function storedOf(message: Message): Stored {
  return {
    text: message.text.length,
    reasoning: message.reasoning.length,
    toolCalls: message.toolCalls.length,
    status: message.status,
    active: message.active,
  };
}

function writeMessage(
  writer: WriteTransaction,
  message: Message,
  stored: Stored | undefined,
  uncertain: boolean,
): void {
  if (stored === undefined || uncertain) {
    // Contents that were left in their file are stored, and no others are known here.
    if (message.contents === 'here') {
      insertMessage(writer, message); // adds nothing if the id is there
      setMessageContents(writer, message.id, message);
    }
    finishMessage(writer, message.id, message);
    if (!message.active) supersedeMessages(writer, [message.id]);
    return;
  }
  if (message.text.length > stored.text || message.reasoning.length > stored.reasoning) {
    const text = message.text.slice(stored.text);
    appendMessageText(writer, message.id, text, message.reasoning.slice(stored.reasoning));
  }
  if (message.toolCalls.length > stored.toolCalls) setMessageToolCalls(writer, message.id, message.toolCalls);
  if (message.status !== stored.status) finishMessage(writer, message.id, message);
  if (message.active !== stored.active) supersedeMessages(writer, [message.id]);
}
