/** Entry of the worker thread that verifies a folder; built to dist/verify.cjs. Posts the report, or why there is none. */
import { parentPort, workerData } from 'node:worker_threads';
import * as v from 'valibot';
import { verifyFolder } from './verifyFolder.ts';

const workerDataSchema = v.object({ folder: v.string(), wasmFile: v.string() });

async function main(): Promise<void> {
  const { folder, wasmFile } = v.parse(workerDataSchema, workerData);
  parentPort?.postMessage(await verifyFolder(folder, wasmFile));
}

void main();
