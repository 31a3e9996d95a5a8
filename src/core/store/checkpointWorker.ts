/** Entry of the worker thread that makes snapshots; built to dist/checkpoint.cjs. It ends when the snapshot is durable. */
import { parentPort, workerData } from 'node:worker_threads';
import * as v from 'valibot';
import { runCheckpoint } from './checkpoint.ts';
import { nodeFiles } from './fileLayer.ts';
import { loadEngine } from './openDatabase.ts';
import { Presence } from './presence.ts';
import { systemProbe } from './processProbe.ts';

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
  const presence = new Presence({
    files: nodeFiles,
    folder: job.folder,
    windowId: job.windowId,
    clock: () => performance.now(),
    probe: systemProbe(),
    log: () => undefined, // what is unclear counts as alive, and its own window tells of it
  });
  const isWindowAlive = (windowId: string): boolean => presence.isAlive(windowId);
  runCheckpoint({ files: nodeFiles, engine: await loadEngine(wasm), now, isWindowAlive }, job);
  parentPort?.postMessage('done');
}

void main();
