/**
 * How much memory a window takes, in bytes. Arguments: the folder, the checkpoint worker. Questions: `empty`: without a store;
 * `open`: with it, once it is at rest, and at most during a checkpoint.
 */
import * as fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { loadEngine } from '../../../src/core/store/openDatabase.ts';
import { answerQuestions } from '../answering.ts';
import { openStore, wasmFile } from '../stores.ts';

const [folder = '', worker = ''] = process.argv.slice(2);

/** Resident bytes once they no longer fall. */
async function atRest(): Promise<number> {
  let lowest = Number.POSITIVE_INFINITY;
  for (let unchanged = 0; unchanged < 5;) {
    global.gc?.();
    await pause(200);
    const now = process.memoryUsage.rss();
    unchanged = now < lowest * 0.99 ? 0 : unchanged + 1;
    lowest = Math.min(lowest, now);
  }
  return lowest;
}

/** The most bytes that are resident while `work` runs: from the system's own mark on Linux, else looked at every 2 ms. */
async function highest(work: () => Promise<void>): Promise<number> {
  const status = '/proc/self/status';
  if (fs.existsSync(status)) {
    fs.writeFileSync('/proc/self/clear_refs', '5');
    await work();
    const kilobytes = /VmHWM:\s*(\d+) kB/.exec(fs.readFileSync(status, 'utf8'))?.[1];
    return Number(kilobytes) * 1024;
  }
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 2);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return most;
}

answerQuestions({
  empty: async () => {
    await loadEngine(fs.readFileSync(wasmFile));
    return atRest();
  },
  open: async () => {
    const store = await openStore(folder, worker, { journalLimit: Number.POSITIVE_INFINITY });
    const steady = await atRest();
    const peak = await highest(() => store.checkpoint());
    return { steady, peak };
  },
});
