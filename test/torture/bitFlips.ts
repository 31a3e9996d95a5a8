/**
 * One bit changes somewhere in a journal, snapshot or blob. While windows live that hold the state, nothing may be lost; while none
 * does, what is lost must be told. Never two histories, never silently less.
 */
import * as assert from 'node:assert/strict';
import { listFaults } from '../../src/core/store/faults.ts';
import { MemoryDisk } from './support/memoryDisk.ts';
import { Random } from './support/random.ts';
import { Simulation, type World, type Writer } from './support/simulation.ts';

export interface FlipFigures {
  /** No window lived: nothing was missing. */
  harmless: number;
  /** No window lived: something was missing, and it was told. */
  told: number;
  /** Windows lived: nothing was missing. */
  live: number;
}

/** A closed store with two snapshots, three journals, and something in the last one. */
export async function makeFilled(
  world: World,
  begin: ReadonlyMap<string, Buffer>,
): Promise<{ files: Map<string, Buffer>; texts: string[] }> {
  const simulation = new Simulation(world, MemoryDisk.from(begin), new Random(3));
  const writer = await simulation.open();
  for (let index = 0; index < 30; index++) {
    simulation.add(writer, 200);
    await simulation.drain();
    if (index % 10 === 5) await simulation.checkpoint(writer);
    if (index % 10 === 8) simulation.addLarge(writer);
  }
  const texts = simulation.textsOf(writer);
  await simulation.end();
  return { files: simulation.disk.contents(), texts };
}

function pickBit(
  files: ReadonlyMap<string, Buffer>,
  random: Random,
  pattern: RegExp,
): { name: string; bit: number } {
  const names = [...files.keys()].filter((name) => pattern.test(name) && (files.get(name)?.length ?? 0) > 0);
  const name = random.pick(names);
  return { name, bit: random.below((files.get(name)?.length ?? 0) * 8) };
}

export async function flipWithoutWindows(
  world: World,
  filled: { files: Map<string, Buffer>; texts: string[] },
  seed: number,
  figures: FlipFigures,
): Promise<void> {
  const random = new Random(seed);
  const disk = MemoryDisk.from(filled.files);
  const { name, bit } = pickBit(filled.files, random, /journal-|state-|blobs/);
  disk.flip(name, bit);
  const hint = `seed ${seed}: ${name} bit ${bit}`;
  const simulation = new Simulation(world, disk, random);
  try {
    const first = await simulation.open();
    const texts = simulation.textsOf(first);
    const known = filled.texts.filter((text) => texts.includes(text));
    assert.deepEqual(texts, known, `${hint}: not a part of what was there, in its order`);
    const faults = first.store.read(listFaults);
    if (texts.length < filled.texts.length) {
      assert.ok(
        faults.some(({ missing }) => missing.length > 0) ||
          simulation.unreadableIn(first) === filled.texts.length - texts.length,
        `${hint}: silently less`,
      );
      figures.told += 1;
    } else figures.harmless += 1;
    simulation.add(first);
    await simulation.drain();
    const second = await simulation.open();
    assert.deepEqual(simulation.textsOf(second).slice(0, texts.length), texts, `${hint}: two histories`);
    for (const text of simulation.acknowledged) assert.ok(simulation.textsOf(second).includes(text), hint);
    assert.deepEqual(simulation.errors, [], hint);
  } finally {
    await simulation.end();
  }
}

export async function flipWithWindows(
  world: World,
  filled: { files: Map<string, Buffer>; texts: string[] },
  seed: number,
  figures: FlipFigures,
): Promise<void> {
  const random = new Random(seed);
  const disk = MemoryDisk.from(filled.files);
  const simulation = new Simulation(world, disk, random);
  for (const text of filled.texts) simulation.acknowledged.add(text);
  for (const text of filled.texts) simulation.attempted.add(text);
  try {
    const windows = [await simulation.open(1, 5000), await simulation.open(1, 5000)];
    await addSome(simulation, windows, random);
    // What stands in a blob is in no window's memory: that it can rot is seen without windows.
    const { name, bit } = pickBit(disk.contents(), random, /journal-|state-/);
    disk.flip(name, bit);
    const hint = `seed ${seed}: ${name} bit ${bit}, windows live`;
    await addSome(simulation, windows, random);
    const third = await simulation.open(1, 5000);
    await addSome(simulation, [...windows, third], random);
    // While a window is being repaired it shows the older state it holds, and says so.
    const all = [...windows, third];
    while (all.some(({ store }) => store.failure !== null)) {
      await simulation.drain();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await simulation.drain();
    const states = all.map((writer) => simulation.check(writer, hint));
    for (const state of states) assert.deepEqual(state, states[0], `${hint}: two histories`);
    assert.deepEqual(simulation.errors, [], hint);
    figures.live += 1;
  } finally {
    await simulation.end();
  }
}

async function addSome(simulation: Simulation, writers: readonly Writer[], random: Random): Promise<void> {
  for (let count = 0; count < 4; count++) {
    simulation.add(random.pick(writers), 100);
    await simulation.drain();
  }
}
