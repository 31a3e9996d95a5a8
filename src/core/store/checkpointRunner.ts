/** Runs a checkpoint off the host thread. */
import { Worker } from 'node:worker_threads';
import type { CheckpointJob, CheckpointServices } from './checkpoint.ts';

/** Resolves when the snapshot is durable (or was there already); rejects with why not. */
export type CheckpointRunner = (
  job: CheckpointJob,
  isWindowAlive: CheckpointServices['isWindowAlive'],
) => Promise<void>;

/** `file`: the built checkpointWorker.ts. */
export function workerRunner(file: string, wasm: Uint8Array, now: () => number): CheckpointRunner {
  return (job) =>
    new Promise((resolve, reject) => {
      const worker = new Worker(file, { workerData: { wasm, job, now: now() } });
      let isDone = false;
      worker.on('message', () => {
        isDone = true;
      });
      worker.on('error', reject);
      worker.on('exit', (code) => {
        if (isDone) resolve();
        else reject(new Error(`the checkpoint worker ended with ${code}`));
      });
      worker.unref();
    });
}
