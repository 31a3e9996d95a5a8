/**
 * Three writers, interleaved at random, with deaths, power cuts and checkpoints, against a model: the list of what was
 * acknowledged, and after each crash the state that came back.
 */
import * as assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { MemoryDisk } from './support/memoryDisk.ts';
import { Random } from './support/random.ts';
import { Simulation, settle, type World } from './support/simulation.ts';

export interface ModelFigures {
  runs: number;
  acknowledged: number;
  kills: number;
  cuts: number;
  checkpoints: number;
}

const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ type: fc.constant('add' as const), writer: fc.nat(2) }) },
  { weight: 8, arbitrary: fc.record({ type: fc.constant('sync' as const), writer: fc.nat(2) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('settle' as const), writer: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('read' as const), writer: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('kill' as const), writer: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('checkpoint' as const), writer: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('cut' as const), writer: fc.nat(2) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

export async function checkModel(
  world: World,
  begin: ReadonlyMap<string, Buffer>,
  runs: number,
  seed: number,
  figures: ModelFigures,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), fc.nat(), async (steps, chance) => {
      await runSteps(world, begin, steps, chance, figures);
    }),
    { numRuns: runs, seed, endOnFailure: true },
  );
}

async function runSteps(
  world: World,
  begin: ReadonlyMap<string, Buffer>,
  steps: readonly Step[],
  chance: number,
  figures: ModelFigures,
): Promise<void> {
  const simulation = new Simulation(world, MemoryDisk.from(begin), new Random(chance));
  try {
    for (let count = 0; count < 3; count++) await simulation.open();
    for (const one of steps) await takeStep(simulation, one, figures);
    await simulation.drain();
    const states = [];
    for (const writer of simulation.writers) states.push(simulation.check(writer, 'at the end'));
    const fresh = simulation.check(await simulation.open(), 'opened at the end');
    for (const state of states) assert.deepEqual(state, fresh, 'windows disagree');
    assert.deepEqual(simulation.errors, []);
    figures.runs += 1;
    figures.acknowledged += simulation.acknowledged.size;
  } finally {
    await simulation.end();
  }
}

async function takeStep(simulation: Simulation, one: Step, figures: ModelFigures): Promise<void> {
  const writer = simulation.writers[one.writer];
  if (writer === undefined) return;
  switch (one.type) {
    case 'add':
      simulation.add(writer, 120);
      break;
    case 'sync':
      simulation.completeSomeSync();
      break;
    case 'settle':
      await settle();
      break;
    case 'read':
      simulation.check(writer, 'read');
      break;
    case 'checkpoint':
      figures.checkpoints += 1;
      writer.store.checkpoint().catch((error: unknown) => {
        if (!writer.files.isDead) simulation.errors.push(`checkpoint: ${String(error)}`);
      });
      break;
    case 'kill':
      figures.kills += 1;
      await simulation.kill(writer);
      await simulation.open();
      break;
    case 'cut':
      figures.cuts += 1;
      await simulation.powerCut();
      for (let count = 0; count < 3; count++) await simulation.open();
      for (const opened of simulation.writers) simulation.check(opened, 'after a power cut');
      break;
  }
}
