/** Verifies off the host thread: it reads all of the store. */
import { Worker } from 'node:worker_threads';
import * as v from 'valibot';
import type { VerifyReport } from './verifyFolder.ts';

const reportSchema = v.object({
  ok: v.boolean(),
  faults: v.array(v.string()),
  sessions: v.number(),
  messages: v.number(),
  frames: v.number(),
  skippedFrames: v.number(),
  blobs: v.number(),
  unnamedBlobs: v.number(),
});

/** `file`: the built verifyWorker.ts. Rejects with what verifyFolder throws. */
export function verifyInWorker(file: string, folder: string, wasmFile: string): Promise<VerifyReport> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(file, { workerData: { folder, wasmFile } });
    worker.on('message', (message: unknown) => {
      const parsed = v.safeParse(reportSchema, message);
      if (parsed.success) resolve(parsed.output);
      else reject(new Error('the verify worker gave something else than a report'));
    });
    worker.on('error', reject);
    worker.on('exit', (code) => reject(new Error(`the verify worker ended with ${code}`)));
    worker.unref();
  });
}
