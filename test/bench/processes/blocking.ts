/**
 * A window that holds W2. Arguments: the folder, the checkpoint worker. Questions: `open`; `checkpoint`: makes one while messages are
 * appended; `control`: a worker burns as much CPU while nothing else happens.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { insertMessage } from '../../../src/core/store/messages.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { answerQuestions } from '../answering.ts';
import { openStore } from '../stores.ts';
import { Conversations } from '../workloads.ts';

const [folder = '', worker = ''] = process.argv.slice(2);
const messageBytes = 1000;
/** Milliseconds between appends. */
const rest = 10;
const conversations = new Conversations(process.pid);
const session = conversations.chat();
let opened: Store | null = null;
/** Of the last checkpoint: microseconds of CPU, for the control. */
let burned = 0;

/** The longest time in milliseconds for which no timer of this thread could run, while `work` goes on. */
async function longestBlock(work: () => Promise<void>): Promise<{ longest: number; seconds: number }> {
  const start = performance.now();
  let isDone = false;
  let longest = 0;
  const watch = async (): Promise<void> => {
    for (let before = performance.now(); !isDone;) {
      await pause(1);
      const now = performance.now();
      longest = Math.max(longest, now - before - 1);
      before = now;
    }
  };
  const watched = watch();
  try {
    await work();
  } finally {
    isDone = true;
  }
  await watched;
  return { longest, seconds: (performance.now() - start) / 1000 };
}

/** Copies and sums memory, as a checkpoint does, for that many microseconds of CPU of the whole process. */
const burner = `
  const { workerData, parentPort } = require('node:worker_threads');
  const source = Buffer.alloc(1 << 26, 'holdfast');
  const start = process.cpuUsage();
  let sum = 0;
  do {
    const copy = Buffer.from(source);
    for (let index = 0; index < copy.length; index += 8) sum = (sum + copy[index]) | 0;
  } while (total(process.cpuUsage(start)) < workerData);
  function total(usage) { return usage.user + usage.system; }
  parentPort.postMessage(sum);
`;

function burn(microseconds: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(burner, { eval: true, workerData: microseconds });
    thread.on('error', reject);
    thread.on('exit', () => resolve());
  });
}

answerQuestions({
  open: async () => {
    opened = await openStore(folder, worker, { journalLimit: Number.POSITIVE_INFINITY });
    await opened.write((writer) => insertSession(writer, session));
  },
  checkpoint: async () => {
    const store = opened;
    if (store === null) throw new Error('open comes first');
    let isDone = false;
    let appends = 0;
    const append = async (): Promise<void> => {
      while (!isDone) {
        await store.write((writer) => insertMessage(writer, conversations.message(session.id, messageBytes)));
        appends += 1;
        await pause(rest);
      }
    };
    const before = process.cpuUsage();
    const block = await longestBlock(async () => {
      const appended = append();
      await store.checkpoint();
      isDone = true;
      await appended;
    });
    const { user, system } = process.cpuUsage(before);
    burned = user + system;
    return { ...block, appends };
  },
  control: async () => ({ ...(await longestBlock(() => burn(burned))), appends: 0 }),
});
