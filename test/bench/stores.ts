/** Opening our store as a window does. */
import * as path from 'node:path';
import { ulid } from 'ulid';
import { nodeFiles, type FileLayer } from '../../src/core/store/fileLayer.ts';
import { Store } from '../../src/core/store/store.ts';
import type { StoreOptions } from '../../src/core/store/storeOptions.ts';

const root = path.resolve(import.meta.dirname, '../..');
export const wasmFile = path.join(root, 'node_modules/sql.js/dist/sql-wasm.wasm');

export function openStore(
  folder: string,
  checkpointWorkerFile: string | null,
  overrides: Partial<StoreOptions> = {},
): Promise<Store> {
  return Store.open({ folder, wasm: wasmFile, checkpointWorkerFile, windowId: ulid(), ...overrides });
}

/** Waits for a checkpoint under way, whose worker does not keep a process alive by itself. */
export async function checkpointSettled(store: Store): Promise<void> {
  const alive = setInterval(() => undefined, 1000);
  try {
    await store.checkpointSettled();
  } finally {
    clearInterval(alive);
  }
}

/** Where waiting for the disk is not what is measured. */
export const filesWithoutSync: FileLayer = {
  ...nodeFiles,
  sync: () => Promise.resolve(),
  syncNow: () => undefined,
  syncFolder: () => Promise.resolve(),
  syncFolderNow: () => undefined,
};
