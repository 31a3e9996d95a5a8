/**
 * W2 as a store: a snapshot, and a journal just under the size at which a window would fold it in. Making it takes a while, so
 * it is kept in the system's folder for temporary files and only ever cloned.
 */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { blobPath, listBlobs } from '../../src/core/store/blobFile.ts';
import { runCheckpoint } from '../../src/core/store/checkpoint.ts';
import {
  blobsFolderName,
  listFolder,
  inFolder,
  journalName,
  type SnapshotName,
} from '../../src/core/store/folder.ts';
import { insertMessage } from '../../src/core/store/messages.ts';
import { schemaVersion } from '../../src/core/store/migrations.ts';
import { loadEngine } from '../../src/core/store/openDatabase.ts';
import { insertSession } from '../../src/core/store/sessions.ts';
import type { Store } from '../../src/core/store/store.ts';
import { defaultJournalLimit } from '../../src/core/store/storeOptions.ts';
import type { BenchContext } from './benchmark.ts';
import { filesWithoutSync, openStore, wasmFile } from './stores.ts';
import { Conversations, w2 } from './workloads.ts';

export interface W2Store {
  readonly folder: string;
  readonly snapshot: SnapshotName;
  readonly snapshotBytes: number;
  readonly journalBytes: number;
}

/** Changes when this file makes something else of the same workload. */
const recipe = 2;
/** Journal per checkpoint while it is made (bytes). */
const pieceBytes = 192 << 20;
/** How near the journal comes to its limit. */
const nearly = 0.96;
const messagesPerWrite = 10;
const completeName = 'complete';

/** Makes it unless it is there. */
export async function w2Store({ scale, say }: Pick<BenchContext, 'scale' | 'say'>): Promise<W2Store> {
  const folder = path.join(os.tmpdir(), `holdfast-bench-w2-${scale}-${recipe}.${schemaVersion}`);
  if (!fs.existsSync(path.join(folder, completeName))) {
    fs.rmSync(folder, { recursive: true, force: true });
    say(`Making W2 at scale ${scale}, once; at full scale it takes minutes and 3 GB of memory`);
    await make(folder, scale);
    fs.writeFileSync(path.join(folder, completeName), '');
  }
  return describe(folder);
}

/** A store of its own that begins as W2: snapshot and blobs are shared (they are never changed), the journal copied. */
export function cloneW2(source: W2Store, folder: string): void {
  const { snapshots, journals } = listFolder(filesWithoutSync, source.folder);
  filesWithoutSync.makeFolder(inFolder(folder, blobsFolderName));
  const from = { files: filesWithoutSync, folder: source.folder };
  for (const name of listBlobs(from)) link(blobPath(source.folder, name), blobPath(folder, name));
  for (const { name } of snapshots) link(inFolder(source.folder, name), inFolder(folder, name));
  for (const generation of journals) {
    const name = journalName(generation);
    fs.copyFileSync(inFolder(source.folder, name), inFolder(folder, name));
  }
}

function link(from: string, to: string): void {
  try {
    fs.linkSync(from, to);
  } catch (error) {
    // Another disk, or one without links.
    if (!(error instanceof Error && 'code' in error)) throw error;
    fs.copyFileSync(from, to);
  }
}

function describe(folder: string): W2Store {
  const { snapshots, journals } = listFolder(filesWithoutSync, folder);
  const snapshot = snapshots[0];
  if (snapshot === undefined) throw new Error(`${folder} holds no snapshot`);
  const journal = inFolder(folder, journalName(journals.at(-1) ?? 0));
  return {
    folder,
    snapshot,
    snapshotBytes: fs.statSync(inFolder(folder, snapshot.name)).size,
    journalBytes: fs.statSync(journal).size,
  };
}

async function make(folder: string, scale: number): Promise<void> {
  const engine = await loadEngine(fs.readFileSync(wasmFile));
  const store = await openStore(folder, null, {
    files: filesWithoutSync,
    journalLimit: Number.POSITIVE_INFINITY,
    runCheckpoint: async (job, isWindowAlive) =>
      runCheckpoint({ files: filesWithoutSync, engine, now: Date.now(), isWindowAlive }, job),
    followInterval: 0,
  });
  const conversations = new Conversations(2);
  const size = (): number => fs.statSync(inFolder(folder, journalName(store.generation))).size;
  // The journal holds about an eleventh of it.
  const inSnapshot = Math.max(1, Math.floor(w2.chats * scale * 0.91));
  for (let chat = 0; chat < inSnapshot; chat++) {
    await addChat(store, conversations, () => true);
    if (size() < pieceBytes) continue;
    await store.tidy();
    await store.checkpoint();
  }
  await store.tidy();
  await store.checkpoint();
  const bytes = fs.statSync(inFolder(folder, newestSnapshot(folder))).size;
  const limit = Math.max(defaultJournalLimit, bytes / 10) * nearly;
  while (size() < limit) await addChat(store, conversations, () => size() < limit);
  await store.close();
  const { snapshots, journals } = listFolder(filesWithoutSync, folder);
  for (const { name } of snapshots.slice(1)) fs.rmSync(inFolder(folder, name));
  for (const generation of journals.slice(0, -1)) fs.rmSync(inFolder(folder, journalName(generation)));
}

async function addChat(store: Store, conversations: Conversations, goesOn: () => boolean): Promise<void> {
  const session = conversations.chat();
  for (let done = 0; done < w2.messages && goesOn(); done += messagesPerWrite) {
    const messages = conversations.messages(session.id, messagesPerWrite);
    await store.write((writer) => {
      insertSession(writer, session);
      for (const message of messages) insertMessage(writer, message);
    });
  }
}

function newestSnapshot(folder: string): string {
  return listFolder(filesWithoutSync, folder).snapshots[0]?.name ?? '';
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_000_000)} MB`;
}
