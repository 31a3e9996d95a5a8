/**
 * The last resort for words: what a window that goes cannot save in the store is written to a file elsewhere, and the next
 * window on that store finds the file, brings it in by id, and removes it once all of it is on disk.
 */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { chatTitle } from '../session/title.ts';
import { isDeleted } from '../store/deletion.ts';
import { nodeFiles } from '../store/fileLayer.ts';
import { getMessage } from '../store/messages.ts';
import type { Store } from '../store/store.ts';
import type { ReadTransaction } from '../store/transaction.ts';
import { readBackup, writeRecords } from '../store/transfer/backupFile.ts';
import { mergeRecords } from '../store/transfer/merge.ts';
import type { ChatRecord } from '../store/transfer/records.ts';
import { messageOf, RefusedError } from './problems.ts';

export interface RescueOptions {
  /** Whose words they are. */
  readonly storeFolder: string;
  /** Folders for the files, in the order in which they are tried. Made when needed. */
  readonly places: readonly string[];
  readonly newId: () => string;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  readonly log: (line: string) => void;
}

export interface RescuedFile {
  readonly file: string;
  /** Titles of the chats that got something they did not have. */
  readonly chats: readonly string[];
  /** Why it was not brought in, and is still there; null: it was. */
  readonly problem: string | null;
}

export class Rescue {
  readonly #options: RescueOptions;

  constructor(options: RescueOptions) {
    this.#options = options;
  }

  /** Writes the records to the first place that takes them. Throws an Error with the reason of each if none does. */
  keep(sessionId: string, records: readonly ChatRecord[]): void {
    if (records.length === 0) return;
    const { places, newId, now, log } = this.#options;
    const refusals: string[] = [];
    for (const place of places) {
      const file = path.join(place, `${this.#prefix}${newId()}.txt`);
      try {
        fs.mkdirSync(place, { recursive: true, mode: 0o700 });
        if (!isPrivate(place)) throw new Error('it is not a folder of this user alone');
        writeRecords(nodeFiles, records, file, now());
        log(`what could not be saved of chat ${sessionId} was kept in ${file}`);
        return;
      } catch (error) {
        refusals.push(`${place}: ${messageOf(error)}`);
      }
    }
    throw new Error(`What could not be saved of chat ${sessionId} is lost. ${refusals.join('; ')}`);
  }

  /** Brings in what earlier windows kept. A file that cannot be read or brought in now stays where it is. Never rejects. */
  async bringIn(store: Store): Promise<RescuedFile[]> {
    const results: RescuedFile[] = [];
    for (const file of this.#files()) {
      try {
        results.push({ file, chats: await bringInFile(store, file), problem: null });
        fs.rmSync(file, { force: true });
      } catch (error) {
        if (!fs.existsSync(file)) continue; // another window was faster
        this.#options.log(`${file} was not brought in: ${messageOf(error)}`);
        results.push({ file, chats: [], problem: messageOf(error) });
      }
    }
    for (const place of this.#options.places.filter(isPrivate)) {
      if (fs.readdirSync(place).length === 0) fs.rmdirSync(place);
    }
    return results;
  }

  /** Oldest first. */
  #files(): string[] {
    return this.#options.places
      .filter(isPrivate)
      .flatMap((place) => fs.readdirSync(place).map((name) => path.join(place, name)))
      .filter((file) => path.basename(file).startsWith(this.#prefix) && file.endsWith('.txt'))
      .sort((one, other) => path.basename(one).localeCompare(path.basename(other)));
  }

  /** Names the store, because several may keep files in one place. */
  get #prefix(): string {
    const hash = createHash('sha256').update(path.resolve(this.#options.storeFolder)).digest('hex');
    return `holdfast-${hash.slice(0, 16)}-`;
  }
}

/** Places outside the store's own disk, as far as there are any; what lies in the last one may not survive a restart. */
export function rescuePlaces(extensionStorage: string): string[] {
  const user = process.getuid?.() ?? 'user';
  return [
    path.join(extensionStorage, 'rescue'),
    path.join(os.homedir(), '.holdfast-rescue'),
    path.join(os.tmpdir(), `holdfast-rescue-${user}`),
  ];
}

export interface RescueSentence {
  /** Something is still to be brought in. */
  readonly isWaiting: boolean;
  readonly text: string;
}

/** What the user is told of it, one sentence per thing that happened. */
export function describeRescued(rescued: readonly RescuedFile[]): RescueSentence[] {
  const titles = [...new Set(rescued.flatMap(({ chats }) => chats))].map((title) => `"${title}"`);
  const broughtIn = {
    isWaiting: false,
    text: `When a window was closed, words could not be saved in the chat storage. They were kept in a file elsewhere and are now in their chats: ${titles.join(', ')}.`,
  };
  const waiting = rescued.flatMap(({ file, problem }) =>
    problem === null ? [] : { isWaiting: true, text: describeWaiting(file, problem) },
  );
  return [...(titles.length === 0 ? [] : [broughtIn]), ...waiting];
}

function describeWaiting(file: string, problem: string): string {
  return `Words that could not be saved when a window was closed are kept in ${file} until Holdfast can bring them in, which it tries at each start. ${problem}`;
}

/** Titles of the chats that got something. Rejects with StoreErrors; then the file is still needed. */
async function bringInFile(store: Store, file: string): Promise<string[]> {
  const records = [...readBackup(nodeFiles, file)];
  const titles: string[] = [];
  for (const record of records) {
    if (record.type !== 'chat') continue;
    const { session } = record;
    // Deleted since, with all that belongs to it.
    if (store.read((reader) => isDeleted(reader, session.id))) continue;
    const own = records.filter((other) => sessionOf(other) === session.id);
    const { chats, messages, drafts } = await mergeRecords(store, () => own, { newerDrafts: true });
    for (const other of own) store.read((reader) => mustBeThere(reader, other));
    if (chats + messages + drafts > 0) titles.push(chatTitle(session));
  }
  return titles;
}

/** Only then may the file go. Throws a RefusedError. */
function mustBeThere(reader: ReadTransaction, record: ChatRecord): void {
  if (record.type !== 'message') return;
  const { id, text, reasoning } = record.message;
  const stored = getMessage(reader, id);
  if (stored?.text.startsWith(text) === true && stored.reasoning.startsWith(reasoning)) return;
  throw new RefusedError(
    'not_saved',
    `The message ${id} of the chat ${record.message.sessionId} reads differently in the chat storage.`,
  );
}

function sessionOf(record: ChatRecord): string | null {
  switch (record.type) {
    case 'chat':
      return record.session.id;
    case 'message':
      return record.message.sessionId;
    case 'draft':
      return record.sessionId;
    case 'memory':
      return record.memory.sourceSessionId;
  }
}

/** A folder that nobody else can put files into: what is found there becomes part of the user's chats. */
function isPrivate(place: string): boolean {
  const status = fs.lstatSync(place, { throwIfNoEntry: false });
  if (status?.isDirectory() !== true) return false;
  const uid = process.getuid?.();
  return uid === undefined || (status.uid === uid && (status.mode & 0o022) === 0);
}
