/** Real stores in temporary folders; everything opened is closed and removed after each test. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { ulid } from 'ulid';
import type { Session } from '../../../../src/core/session/model.ts';
import { nodeFiles, type FileLayer } from '../../../../src/core/store/fileLayer.ts';
import { insertMessage, listMessages } from '../../../../src/core/store/messages.ts';
import { insertSession } from '../../../../src/core/store/sessions.ts';
import { Store } from '../../../../src/core/store/store.ts';
import type { StoreOptions } from '../../../../src/core/store/storeOptions.ts';
import type { WriteTransaction } from '../../../../src/core/store/transaction.ts';
import { aMessage, aSession, wasmFile } from './values.ts';

/** For tests of what is read back, where waiting for the disk shows nothing. */
export const filesWithoutSync: FileLayer = {
  ...nodeFiles,
  sync: () => Promise.resolve(),
  syncNow: () => undefined,
  syncFolder: () => Promise.resolve(),
  syncFolderNow: () => undefined,
};

const stores: Store[] = [];
const folders: string[] = [];

export function makeFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-store-'));
  folders.push(folder);
  return folder;
}

/** A store that is closed after the test; it looks for other windows' changes only when asked. */
export async function openStore(overrides: Partial<StoreOptions> = {}): Promise<Store> {
  const store = await Store.open({
    folder: overrides.folder ?? makeFolder(),
    wasm: wasmFile,
    checkpointWorkerFile: null,
    windowId: ulid(),
    followInterval: 0,
    ...overrides,
  });
  stores.push(store);
  return store;
}

/** Closes and removes what was opened since the last time. */
export async function closeStores(): Promise<void> {
  for (const store of stores.splice(0)) await store.close();
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true, force: true });
}

/** A chat with one message per text; gives the session. */
export async function addChat(store: Store, texts: readonly string[] = []): Promise<Session> {
  const session = aSession();
  await store.write((writer) => {
    insertSession(writer, session);
    for (const text of texts) insertMessage(writer, aMessage(session.id, { text }));
  });
  return session;
}

export function addText(sessionId: string, text: string): (writer: WriteTransaction) => number {
  const message = aMessage(sessionId, { text });
  return (writer) => insertMessage(writer, message);
}

export function textsOf(store: Store, sessionId: string): string[] {
  return store.read((reader) => listMessages(reader, sessionId)).map((message) => message.text);
}

/** Waits for what happens in the background; the test's own limit ends it. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
