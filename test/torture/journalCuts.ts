/** The journal cut at every byte of its last 4 kB: every earlier change is there; with the mark as witness the cut is told. */
import * as assert from 'node:assert/strict';
import * as path from 'node:path';
import { listFaults } from '../../src/core/store/faults.ts';
import { MemoryDisk } from './support/memoryDisk.ts';
import { Random } from './support/random.ts';
import { folder, Simulation, type World } from './support/simulation.ts';

export interface CutFigures {
  cuts: number;
  told: number;
}

const tail = 4096;

export async function cutJournal(
  world: World,
  filled: { files: Map<string, Buffer>; texts: string[] },
  step: number,
  figures: CutFigures,
): Promise<void> {
  const name = [...filled.files.keys()]
    .filter((file) => path.basename(file).startsWith('journal-'))
    .sort()
    .at(-1);
  const journal = name === undefined ? undefined : filled.files.get(name);
  if (name === undefined || journal === undefined) throw new Error('there is no journal');
  for (let cut = Math.max(0, journal.length - tail); cut <= journal.length; cut += step) {
    for (const hasMark of [true, false]) {
      const files = new Map(filled.files).set(name, journal.subarray(0, cut));
      if (!hasMark) files.delete(path.join(folder, 'mark'));
      await checkCut(
        world,
        files,
        filled.texts,
        `cut after ${cut} of ${journal.length} bytes`,
        hasMark,
        figures,
      );
    }
  }
}

async function checkCut(
  world: World,
  files: Map<string, Buffer>,
  whole: readonly string[],
  hint: string,
  hasMark: boolean,
  figures: CutFigures,
): Promise<void> {
  const simulation = new Simulation(world, MemoryDisk.from(files), new Random(1));
  try {
    const writer = await simulation.open();
    const texts = simulation.textsOf(writer);
    assert.deepEqual(texts, whole.slice(0, texts.length), hint);
    const isTold = writer.store.read(listFaults).length > 0;
    if (hasMark) assert.equal(isTold, texts.length < whole.length, `${hint}: told or whole`);
    figures.cuts += 1;
    if (isTold) figures.told += 1;
    simulation.add(writer);
    await simulation.drain();
    assert.equal(simulation.textsOf(writer).length, texts.length + 1, hint);
  } finally {
    await simulation.end();
  }
}
