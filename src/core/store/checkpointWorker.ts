/** Entry of the worker thread that makes snapshots; built to dist/checkpoint.cjs. It ends when the snapshot is durable. */
import { parentPort, workerData } from 'node:worker_threads';
import * as v from 'valibot';
import { runCheckpoint } from './checkpoint.ts';
import { nodeFiles } from './fileLayer.ts';
import { loadEngine } from './openDatabase.ts';

const workerDataSchema = v.object({
  wasm: v.instance(Uint8Array),
  now: v.number(),
  job: v.object({
    folder: v.string(),
    generation: v.number(),
    seal: v.nullable(v.object({ seq: v.number(), crc: v.number() })),
    windowId: v.string(),
  }),
});

async function main(): Promise<void> {
  const { wasm, job, now } = v.parse(workerDataSchema, workerData);
  runCheckpoint(nodeFiles, await loadEngine(wasm), job, now);
  parentPort?.postMessage('done');
}

void main();
