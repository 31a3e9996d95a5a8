/** What it costs a window in which nothing happens that it follows a chat. */
import { ulid } from 'ulid';
import * as v from 'valibot';
import { single, type Benchmark } from '../benchmark.ts';
import { Child } from '../child.ts';
import { median, medianRatio, short } from '../statistics.ts';

const rounds = 5;
/** Milliseconds of doing nothing, per round. */
const restMs = 30_000;

export const idleCost: Benchmark = single(
  {
    name: 'idle-cost',
    group: 'windows',
    what: 'CPU of a process that shows an idle chat which another process holds ÷ of one that shows a new chat of its own, both with the store open and looking for changes',
    unit: 'ratio',
    bar: 1.05,
    direction: 'atMost',
    needsSqlite: false,
  },
  async ({ makeFolder, checkpointWorkerFile }) => {
    const folder = makeFolder();
    const sessionId = ulid();
    const writer = new Child('speaking', [folder, checkpointWorkerFile, sessionId, '1', '1']);
    const follower = new Child('watching', [folder, checkpointWorkerFile, sessionId, String(restMs)]);
    const other = new Child('watching', [folder, checkpointWorkerFile, '', String(restMs)]);
    try {
      await writer.ask(v.unknown(), 'open');
      await follower.ask(v.literal('elsewhere'), 'open');
      await other.ask(v.literal('here'), 'open');
      const following: number[] = [];
      const peers: number[] = [];
      for (let round = -1; round < rounds; round++) {
        const idle = [follower, other].map((child) => child.ask(v.number(), 'idle'));
        const [one = 0, two = 0] = await Promise.all(idle);
        if (round < 0) continue;
        following.push(one);
        peers.push(two);
      }
      const share = (values: readonly number[]): string => `${short(median(values) / restMs / 10)} %`;
      const note = `${share(following)} of a core, ${share(peers)} without; ${rounds} rounds of ${restMs / 1000} s, side by side`;
      return { value: medianRatio(following, peers), note };
    } finally {
      for (const child of [writer, follower, other]) await child.end();
    }
  },
);
