/** What the host thread notices of a checkpoint of a large store. */
import * as v from 'valibot';
import { single, type Benchmark } from '../benchmark.ts';
import { withChild } from '../child.ts';
import { median, short } from '../statistics.ts';
import { cloneW2, w2Store } from '../w2Store.ts';

const pairs = 5;

const blockSchema = v.object({ longest: v.number(), seconds: v.number(), appends: v.number() });

export const blockW2: Benchmark = single(
  {
    name: 'block-w2',
    group: 'store',
    what: 'longest block of the host thread while W2 is checkpointed and appended to, above a control that burns the same CPU',
    unit: 'ms',
    bar: 10,
    direction: 'atMost',
    needsSqlite: false,
  },
  async (context) => {
    const folder = context.makeFolder();
    cloneW2(await w2Store(context), folder);
    const checkpoints: v.InferOutput<typeof blockSchema>[] = [];
    const controls: v.InferOutput<typeof blockSchema>[] = [];
    await withChild('blocking', [folder, context.checkpointWorkerFile], async (child) => {
      await child.ask(v.unknown(), 'open');
      for (let pair = 0; pair < pairs; pair++) {
        checkpoints.push(await child.ask(blockSchema, 'checkpoint'));
        controls.push(await child.ask(blockSchema, 'control'));
      }
    });
    const above = checkpoints.map(({ longest }, index) => longest - (controls[index]?.longest ?? 0));
    const longest = (blocks: typeof checkpoints): string =>
      `${short(median(blocks.map((block) => block.longest)))} ms`;
    return {
      value: median(above),
      note: `${longest(checkpoints)} with a checkpoint of ${short(median(checkpoints.map(({ seconds }) => seconds)))} s and ${median(checkpoints.map(({ appends }) => appends))} appends, ${longest(controls)} in the control; ${pairs} pairs`,
    };
  },
);
