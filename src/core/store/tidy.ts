/**
 * The tidy: at idle moments the contents of finished messages that are not small move into blobs, a few at a time, so that the
 * database which every window holds in memory stays small. One window does it for all.
 */
import * as v from 'valibot';
import { BlobUnreadableError } from './blobFile.ts';
import type { Blobs } from './blobs.ts';
import { contentsOf, textsOf } from './messageContents.ts';
import type { ReadTransaction, Row, WriteTransaction } from './transaction.ts';

export interface TidyOptions {
  readonly blobs: Blobs;
  readonly read: <T>(use: (reader: ReadTransaction) => T) => T;
  readonly write: <T>(change: (writer: WriteTransaction) => T) => Promise<T>;
  /** The generation whose journal is being written. */
  readonly generation: () => number;
  /** Whether nobody waits for this window at the moment, and it is the one that tidies. */
  readonly isDue: () => boolean;
  /** Milliseconds between looks for something to tidy. */
  readonly interval: number;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  readonly log: (line: string) => void;
}

/** Milliseconds between two batches. */
const batchPause = 200;
/** A message rests so long (milliseconds since it was begun) before it is moved. */
const rest = 60_000;
const batchRows = 64;
/** UTF-16 units of contents in a batch, unless one message alone has more. */
const batchLength = 4_000_000;

/** As the index says it (see migrations.ts): without looking through any table. */
const large = `SELECT id, status, blob, content, reasoning, tool_calls FROM messages INDEXED BY messages_to_tidy WHERE status <> 'streaming' AND octet_length(content) + octet_length(reasoning) + coalesce(octet_length(tool_calls), 0) > 4096 AND created_at < ? ORDER BY created_at LIMIT ?`;
const one = 'SELECT id, status, blob, content, reasoning, tool_calls FROM messages WHERE id = ?';

interface Found {
  readonly id: string;
  readonly row: Row;
  readonly texts: readonly string[];
}

interface Moved extends Found {
  readonly reference: string;
}

export class Tidy {
  readonly #options: TidyOptions;
  /** Ids of messages that cannot be moved: the blob that holds their first part is unreadable. */
  readonly #stuck = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  constructor(options: TidyOptions) {
    this.#options = options;
  }

  /** From now on, at idle moments. */
  start(): void {
    this.#lookAfter(this.#options.interval);
  }

  /** Moves all that there is, now. Resolves to the number of messages. Rejects with StoreErrors. */
  async run(): Promise<number> {
    let count = 0;
    for (;;) {
      const moved = await this.#batch(Number.MAX_SAFE_INTEGER);
      if (moved === 0) return count;
      count += moved;
    }
  }

  /** Resolves once nothing of it touches a file any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }

  #lookAfter(milliseconds: number): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.#look(), milliseconds).unref();
  }

  async #look(): Promise<void> {
    const { isDue, now, log } = this.#options;
    let moved = 0;
    try {
      if (isDue()) moved = await this.#batch(now() - rest);
    } catch (error) {
      log(`large contents stay where they are for now: ${String(error)}`);
    }
    this.#lookAfter(moved > 0 ? batchPause : this.#options.interval);
  }

  #batch(before: number): Promise<number> {
    const batch = this.#running.then(() => this.#moveSome(before));
    this.#running = batch.catch(() => undefined); // whoever asked for the batch is told
    return batch;
  }

  async #moveSome(before: number): Promise<number> {
    const { blobs, read, write, generation } = this.#options;
    if (this.#isStopped) return 0;
    const found = read((reader) => this.#find(reader, before));
    const begun = generation();
    const moved: Moved[] = [];
    for (const item of found) {
      if (this.#isStopped) return 0;
      moved.push({ ...item, reference: await blobs.writeLater(item.texts) });
    }
    if (moved.length === 0) return 0;
    await blobs.syncNames();
    if (this.#isStopped) return 0;
    const count = await write((writer) => {
      // What a frame that lost its race named may be gone with its generation (see blobs.ts).
      if (generation() !== begun) return null;
      return moved.filter((item) => name(writer, item)).length;
    });
    return count ?? this.#moveSome(before);
  }

  #find(reader: ReadTransaction, before: number): Found[] {
    const found: Found[] = [];
    let length = 0;
    for (const row of reader.all(large, [before, batchRows + this.#stuck.size])) {
      const id = v.parse(v.string(), row['id']);
      if (this.#stuck.has(id)) continue;
      try {
        const texts = textsOf(contentsOf(reader, row, 'require'));
        length += texts.reduce((sum, text) => sum + text.length, 0);
        if (found.length > 0 && length > batchLength) break;
        found.push({ id, row, texts });
      } catch (error) {
        if (!(error instanceof BlobUnreadableError)) throw error;
        this.#stuck.add(id);
      }
    }
    return found;
  }
}

/** False: the message was changed meanwhile, and stays as it is. */
function name(writer: WriteTransaction, { id, row, reference }: Moved): boolean {
  const now = writer.get(one, [id]);
  if (JSON.stringify(now) !== JSON.stringify(row)) return false;
  writer.run(`UPDATE messages SET blob = ?, content = '', reasoning = '', tool_calls = NULL WHERE id = ?`, [
    reference,
    id,
  ]);
  return true;
}
