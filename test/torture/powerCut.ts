/**
 * Two writers with checkpoints on a disk in memory; at random operations the power is cut, and any subset of what was not
 * synced is lost. What is left must open, hold every acknowledged change, nothing twice, and take new ones.
 */
import { MemoryDisk } from './support/memoryDisk.ts';
import { Random } from './support/random.ts';
import { Simulation, settle, type World } from './support/simulation.ts';

export interface PowerCutFigures {
  cases: number;
  acknowledged: number;
  generations: number;
}

interface Image {
  readonly disk: MemoryDisk;
  readonly acknowledged: readonly string[];
  readonly attempted: ReadonlySet<string>;
}

/** One run of the writers, with a chance of a cut at each operation; then every image is opened. */
export async function powerCutRun(
  world: World,
  begin: ReadonlyMap<string, Buffer>,
  seed: number,
  figures: PowerCutFigures,
): Promise<void> {
  const random = new Random(seed);
  const simulation = new Simulation(world, MemoryDisk.from(begin), random);
  for (let count = 0; count < 2; count++) await simulation.open();
  const images: Image[] = [];
  const cutRandom = new Random(seed + 1);
  simulation.disk.onOperation = () => {
    if (!cutRandom.chance(0.04)) return;
    images.push({
      disk: simulation.disk.afterPowerCut(cutRandom),
      acknowledged: [...simulation.acknowledged],
      attempted: new Set(simulation.attempted),
    });
  };
  for (let step = 0; step < 120; step++) {
    if (random.chance(0.04)) simulation.addLarge(random.pick(simulation.writers));
    else if (random.chance(0.02)) simulation.add(random.pick(simulation.writers), 4000, 4200);
    else if (random.chance(0.6)) simulation.add(random.pick(simulation.writers), 300);
    else simulation.completeSomeSync();
    if (random.chance(0.02)) await simulation.tidy(random.pick(simulation.writers));
    if (random.chance(0.03)) {
      random
        .pick(simulation.writers)
        .store.checkpoint()
        .catch((error: unknown) => simulation.errors.push(`checkpoint: ${String(error)}`));
    }
    if (random.chance(0.5)) await settle();
  }
  simulation.disk.onOperation = null;
  await simulation.drain();
  const [first] = simulation.writers;
  if (first !== undefined) figures.generations += first.store.generation;
  figures.acknowledged += simulation.acknowledged.size;
  if (simulation.errors.length > 0) throw new Error(`seed ${seed}: ${simulation.errors.join(', ')}`);
  await simulation.end();
  for (const [index, image] of images.entries()) {
    await checkImage(world, image, `seed ${seed}, image ${index}`);
    figures.cases += 1;
  }
}

async function checkImage(world: World, image: Image, hint: string): Promise<void> {
  const simulation = new Simulation(world, image.disk, new Random(7));
  for (const text of image.acknowledged) simulation.acknowledged.add(text);
  for (const text of image.attempted) simulation.attempted.add(text);
  try {
    const first = await simulation.open();
    const before = simulation.check(first, hint);
    simulation.add(first);
    await simulation.drain();
    const second = await simulation.open();
    const after = simulation.check(second, `${hint}, opened again`);
    if (after.slice(0, before.length).join('\n') !== before.join('\n')) {
      throw new Error(`${hint}: opened twice, two histories`);
    }
  } catch (error) {
    throw new Error(`${hint}: ${String(error)}`, { cause: error });
  } finally {
    await simulation.end();
  }
}
