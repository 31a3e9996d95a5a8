/** Opening the store for a command: beside running windows, and never making one where the user mistyped a folder. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { ulid } from 'ulid';
import { StoreUnavailableError, systemErrorCode } from '../core/store/errors.ts';
import { listFaults } from '../core/store/faults.ts';
import { nodeFiles } from '../core/store/fileLayer.ts';
import { listFolder, markName } from '../core/store/folder.ts';
import { Store } from '../core/store/store.ts';
import type { Output } from './output.ts';

/** The files that were built beside this program. */
export interface Program {
  readonly wasmFile: string;
  readonly checkpointWorkerFile: string;
}

export function programIn(folder: string): Program {
  return {
    wasmFile: path.join(folder, 'sql-wasm.wasm'),
    checkpointWorkerFile: path.join(folder, 'checkpoint.cjs'),
  };
}

export interface OpenRequest {
  readonly program: Program;
  readonly folder: string;
  readonly output: Output;
  /** Whether the command writes enough to make checkpoints necessary. */
  readonly makesCheckpoints: boolean;
}

/** `nothing`: the folder is there and holds no store. Throws StoreUnavailableError for one that cannot be listed. */
export function lookInto(folder: string): 'store' | 'nothing' {
  try {
    const { snapshots, journals, names } = listFolder(nodeFiles, folder);
    return snapshots.length > 0 || journals.length > 0 || names.has(markName) ? 'store' : 'nothing';
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === null) throw error;
    throw new StoreUnavailableError(folder, code, error);
  }
}

/** Runs `use` with the store and closes it. Throws StoreErrors. */
export async function withStore<T>(request: OpenRequest, use: (store: Store) => Promise<T>): Promise<T> {
  const { program, folder, output, makesCheckpoints } = request;
  const canCheckpoint = makesCheckpoints && fs.existsSync(program.checkpointWorkerFile);
  const openedAt = Date.now();
  const store = await Store.open({
    folder,
    wasm: program.wasmFile,
    checkpointWorkerFile: canCheckpoint ? program.checkpointWorkerFile : null,
    windowId: ulid(),
    ...(makesCheckpoints ? {} : { followInterval: 0 }),
  });
  try {
    reportSalvage(store, openedAt, output);
    return await use(store);
  } finally {
    await store.close();
  }
}

/** The store was damaged and this open rescued what could be read: that is never kept from the user. */
function reportSalvage(store: Store, openedAt: number, output: Output): void {
  const fresh = store.read(listFaults).filter((fault) => fault.at >= openedAt);
  for (const { missing, failed, aside } of fresh) {
    const lost = missing.reduce((sum, [from, to]) => sum + to - from + 1, 0) + failed;
    output.complain(
      `The store was damaged. What could be read was saved; ${lost} changes could not. The damaged files are kept in ${path.join(store.folder, 'damaged')} (${aside.join(', ')}).\n`,
    );
  }
}
