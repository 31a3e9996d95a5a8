/**
 * Tries to make the store lose something: kills and stops of real processes, power cuts, rotten bits, random interleavings.
 * `--seconds N` shares that time among them; `--full` runs each to its full number instead. `--seed S` repeats a run (what
 * runs in processes differs all the same). `--only NAME` runs one of them. Prints figures; ends with 1 if anything was lost.
 */
import { parseArgs } from 'node:util';
import { flipWithoutWindows, flipWithWindows, makeFilled } from './bitFlips.ts';
import { damageOnce, makeCopies } from './damages.ts';
import { cutJournal } from './journalCuts.ts';
import { checkModel } from './model.ts';
import { powerCutRun } from './powerCut.ts';
import { tortureProcesses } from './processes.ts';
import { makeWorld } from './support/world.ts';

const full = { cases: 2000, flips: 1000, damages: 1000, runs: 10_000, kills: 500 };
/** Runs of the model at a time. */
const portion = 20;

async function until(
  seconds: number,
  isEnough: () => boolean,
  step: (seed: number) => Promise<void>,
  seed: number,
): Promise<void> {
  const end = performance.now() + seconds * 1000;
  for (let next = seed; performance.now() < end && !isEnough(); next++) await step(next);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '25' },
      seed: { type: 'string', default: '1' },
      full: { type: 'boolean', default: false },
      only: { type: 'string' },
    },
  });
  const seed = Number(values.seed);
  const share = values.full ? 3600 : Number(values.seconds) / 5;
  const wants = (name: string): boolean => values.only === undefined || values.only === name;
  const report = (name: string, figures: object): void => {
    process.stdout.write(`${name}: ${JSON.stringify(figures)}\n`);
  };
  const { world, begin } = await makeWorld();
  const filled = await makeFilled(world, begin);

  if (wants('processes')) {
    const figures = { kills: 0, stops: 0, acknowledged: 0, generations: 0, opens: 0 };
    if (values.full) {
      while (figures.kills < full.kills) await tortureProcesses(60, seed + figures.kills, figures);
    } else await tortureProcesses(share * 2, seed, figures);
    report('killed and stopped processes', figures);
  }
  if (wants('power')) {
    const figures = { cases: 0, acknowledged: 0, generations: 0 };
    await until(
      share,
      () => figures.cases >= full.cases,
      (next) => powerCutRun(world, begin, next * 10, figures),
      seed,
    );
    report('power cuts', figures);
  }
  if (wants('cuts')) {
    const figures = { cuts: 0, told: 0 };
    await cutJournal(world, filled, values.full ? 1 : 97, figures);
    report('journal cut within its last 4 kB', figures);
  }
  if (wants('flips')) {
    const figures = { harmless: 0, told: 0, live: 0 };
    const count = (): number => figures.harmless + figures.told + figures.live;
    await until(
      share,
      () => count() >= full.flips,
      async (next) => {
        await flipWithoutWindows(world, filled, next, figures);
        await flipWithWindows(world, filled, next, figures);
      },
      seed,
    );
    report('flipped bits', figures);
  }
  if (wants('damages')) {
    const figures = { harmless: 0, told: 0 };
    const copies = await makeCopies(world, begin);
    await until(
      share,
      () => figures.harmless + figures.told >= full.damages,
      (next) => damageOnce(world, copies, next, figures),
      seed,
    );
    report('damaged files', figures);
  }
  if (wants('model')) {
    const figures = { runs: 0, acknowledged: 0, kills: 0, cuts: 0, checkpoints: 0 };
    await until(
      share,
      () => figures.runs >= full.runs,
      (next) => checkModel(world, begin, portion, next, figures),
      seed,
    );
    report('random transactions against the model', figures);
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
