/**
 * One or two files of a closed store are damaged at random: a bit flips, the end is cut off, a stretch becomes zeros, the file is
 * deleted, or an older copy of it comes back. What opens then is never silently wrong, and every change that a journal still
 * holds is read.
 */
import * as assert from 'node:assert/strict';
import * as path from 'node:path';
import { splitLines } from '../../src/core/store/chain.ts';
import { listFaults } from '../../src/core/store/faults.ts';
import { MemoryDisk } from './support/memoryDisk.ts';
import { Random } from './support/random.ts';
import { Simulation, type World } from './support/simulation.ts';

export interface DamageFigures {
  /** Nothing was missing. */
  harmless: number;
  /** Something was missing, and it was told. */
  told: number;
}

export interface Filled {
  /** The folder while the store was written, oldest first; the last one is the store that is damaged. */
  readonly copies: readonly Map<string, Buffer>[];
  readonly texts: readonly string[];
}

/** A closed store with two snapshots and several journals, and copies of it from before. */
export async function makeCopies(world: World, begin: ReadonlyMap<string, Buffer>): Promise<Filled> {
  const copies: Map<string, Buffer>[] = [];
  let disk = MemoryDisk.from(begin);
  for (let round = 0; ; round++) {
    const simulation = new Simulation(world, disk, new Random(round + 3));
    const writer = await simulation.open();
    for (let index = 0; index < 6; index++) {
      simulation.add(writer, 200);
      await simulation.drain();
    }
    simulation.addLarge(writer);
    await simulation.drain();
    if (round % 2 === 1) await simulation.checkpoint(writer);
    const texts = simulation.textsOf(writer);
    await simulation.end();
    copies.push(simulation.disk.contents());
    if (round === 6) return { copies, texts };
    disk = MemoryDisk.from(simulation.disk.contents());
  }
}

const kinds = ['flip', 'cut', 'zero', 'delete', 'older copy'] as const;

export async function damageOnce(
  world: World,
  { copies, texts }: Filled,
  seed: number,
  figures: DamageFigures,
): Promise<void> {
  const random = new Random(seed);
  const files = new Map(copies.at(-1));
  const hints: string[] = [];
  const damageOne = (pattern: RegExp): void => {
    const names = [...files].filter(([file, { length }]) => pattern.test(path.basename(file)) && length > 0);
    const [name, whole] = random.pick(names);
    const kind = random.pick(kinds);
    const damaged = damage(kind, name, whole, copies, random);
    if (damaged === null) files.delete(name);
    else files.set(name, damaged);
    hints.push(`${kind} ${name}`);
  };
  damageOne(/^(state-.*|journal-.*|mark|[0-9A-Z]{26})$/);
  if (random.chance(0.5)) damageOne(/^state-/);
  const hint = `seed ${seed}: ${hints.join(', ')}`;
  const simulation = new Simulation(world, MemoryDisk.from(files), random);
  try {
    const first = await simulation.open();
    const found = simulation.textsOf(first);
    assert.deepEqual(
      found,
      texts.filter((text) => found.includes(text)),
      `${hint}: not a part of what was there, in its order`,
    );
    const lost = texts.filter((text) => !found.includes(text));
    const isTold = first.store.read(listFaults).some(({ missing }) => missing.length > 0);
    const isShown = simulation.unreadableIn(first) === lost.length;
    assert.ok(lost.length === 0 || isTold || isShown, `${hint}: silently less`);
    const readable = readableText(files);
    assert.deepEqual(
      lost.filter((text) => readable.includes(JSON.stringify(text))),
      [],
      `${hint}: readable and not read`,
    );
    figures[lost.length === 0 ? 'harmless' : 'told'] += 1;
    simulation.add(first);
    await simulation.drain();
    const second = await simulation.open();
    assert.equal(simulation.textsOf(second).length, found.length + 1, `${hint}: writing does not go on`);
    assert.deepEqual(simulation.errors, [], hint);
  } finally {
    await simulation.end();
  }
}

/** Null: the file is gone. */
function damage(
  kind: (typeof kinds)[number],
  name: string,
  whole: Buffer,
  copies: readonly Map<string, Buffer>[],
  random: Random,
): Buffer | null {
  const bytes = Buffer.from(whole);
  const at = random.below(bytes.length);
  switch (kind) {
    case 'flip':
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
      return bytes;
    case 'cut':
      return bytes.subarray(0, at);
    case 'zero':
      return bytes.fill(0, at, Math.min(bytes.length, at + 1 + random.below(4096)));
    case 'delete':
      return null;
    case 'older copy': {
      const older = copies.flatMap((copy) => copy.get(name) ?? []);
      return older.length === 0 ? bytes : random.pick(older);
    }
  }
}

/** The contents of every whole frame that is left. */
function readableText(files: ReadonlyMap<string, Buffer>): string {
  const journals = [...files].filter(([file]) => path.basename(file).startsWith('journal-'));
  return journals
    .flatMap(([, bytes]) => [...splitLines(bytes)])
    .map(({ frame }) => (frame === null ? '' : Buffer.from(frame.json).toString()))
    .join('\n');
}
