/**
 * Four writer processes on one folder of a real disk, killed at random moments; one of them is stopped while others make
 * checkpoints, and goes on afterwards. Now and then the store is opened and compared with what was acknowledged.
 */
import * as assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { build } from 'esbuild';
import { ulid } from 'ulid';
import { listFaults } from '../../src/core/store/faults.ts';
import { listMessages } from '../../src/core/store/messages.ts';
import { insertSession } from '../../src/core/store/sessions.ts';
import { Store } from '../../src/core/store/store.ts';
import { aSession, wasmFile } from '../core/store/support/values.ts';
import { Random } from './support/random.ts';

export interface ProcessFigures {
  kills: number;
  stops: number;
  acknowledged: number;
  generations: number;
  opens: number;
}

const writers = 4;
/** Bytes of journal per generation: small, so that checkpoints happen all the time. */
const journalLimit = 60_000;

class TortureWriter {
  readonly name: string;
  /** Numbers that were acknowledged. */
  readonly acknowledged: number[] = [];
  readonly errors: string[] = [];
  readonly process: ChildProcess;
  readonly ended: Promise<unknown>;
  #rest = '';

  constructor(entry: string, folder: string, worker: string, name: string) {
    this.name = name;
    this.process = spawn(process.execPath, [entry, folder, wasmFile, worker, name, String(journalLimit)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.process.stdout?.on('data', (chunk: Buffer) => {
      const lines = (this.#rest + chunk.toString()).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.acknowledged.push(Number(line.split(' ')[1]));
    });
    this.process.stderr?.on('data', (chunk: Buffer) => void this.errors.push(chunk.toString()));
    this.ended = once(this.process, 'close');
  }
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

async function bundle(out: string): Promise<{ entry: string; worker: string }> {
  const root = path.resolve(import.meta.dirname, '../..');
  await build({
    entryPoints: {
      writer: path.join(import.meta.dirname, 'support/tortureWriter.ts'),
      checkpoint: path.join(root, 'src/core/store/checkpointWorker.ts'),
    },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outdir: out,
    outExtension: { '.js': '.cjs' },
    logLevel: 'error',
  });
  return { entry: path.join(out, 'writer.cjs'), worker: path.join(out, 'checkpoint.cjs') };
}

export async function tortureProcesses(
  seconds: number,
  seed: number,
  figures: ProcessFigures,
): Promise<void> {
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-torture-'));
  const folder = path.join(temporary, 'store');
  const { entry, worker } = await bundle(temporary);
  const random = new Random(seed);
  const all: TortureWriter[] = [];
  const running: TortureWriter[] = [];
  const start = (): void => {
    const writer = new TortureWriter(entry, folder, worker, `w${all.length}`);
    all.push(writer);
    running.push(writer);
  };
  try {
    const store = await openStore(folder);
    await store.write((writer) => insertSession(writer, aSession({ id: 'torture' })));
    await store.close();
    const end = performance.now() + seconds * 1000;
    for (let count = 0; count < writers; count++) start();
    while (performance.now() < end) {
      await pause(random.below(120));
      if (random.chance(0.03)) await stopAcrossCheckpoints(folder, random.pick(running), end, figures);
      if (random.chance(0.05)) await check(folder, all, figures);
      const victim = random.pick(running);
      // Some die while they start, most after they have written something.
      if (victim.acknowledged.length === 0 && random.chance(0.8)) continue;
      await kill(victim);
      figures.kills += 1;
      running.splice(running.indexOf(victim), 1);
      start();
    }
    for (const writer of running) await kill(writer);
    await check(folder, all, figures);
    figures.acknowledged += all.reduce((sum, writer) => sum + writer.acknowledged.length, 0);
    const errors = all.flatMap((writer) => writer.errors).filter((line) => /failed|damaged|lost/.test(line));
    assert.deepEqual(errors, [], 'writers reported failures');
  } finally {
    for (const writer of all) writer.process.kill('SIGKILL');
    await Promise.all(all.map((writer) => writer.ended));
    fs.rmSync(temporary, { recursive: true, force: true });
  }
}

function openStore(folder: string): Promise<Store> {
  return Store.open({
    folder,
    wasm: wasmFile,
    checkpointWorkerFile: null,
    windowId: ulid(),
    followInterval: 0,
  });
}

async function kill(writer: TortureWriter): Promise<void> {
  writer.process.kill('SIGKILL');
  await writer.ended;
}

/** Stopped until two newer snapshots are there (or time is up), then on again. */
async function stopAcrossCheckpoints(
  folder: string,
  writer: TortureWriter,
  end: number,
  figures: ProcessFigures,
): Promise<void> {
  const before = newestGeneration(folder);
  writer.process.kill('SIGSTOP');
  while (newestGeneration(folder) < before + 2 && performance.now() < end) await pause(10);
  writer.process.kill('SIGCONT');
  if (newestGeneration(folder) >= before + 2) figures.stops += 1;
}

function newestGeneration(folder: string): number {
  return Math.max(0, ...fs.readdirSync(folder).map((name) => Number(/^state-(\d+)-/.exec(name)?.[1] ?? 0)));
}

async function check(folder: string, all: readonly TortureWriter[], figures: ProcessFigures): Promise<void> {
  const acknowledged = all.map((writer) => [...writer.acknowledged]);
  const store = await openStore(folder);
  figures.opens += 1;
  figures.generations = Math.max(figures.generations, store.generation);
  try {
    const messages = store.read((reader) => listMessages(reader, 'torture'));
    assert.ok(
      messages.every(({ contents }) => contents === 'here'),
      'a message cannot be read',
    );
    const texts = messages.map((message) => message.text);
    assert.deepEqual(store.read(listFaults), []);
    const present = new Map<string, number[]>();
    for (const text of texts) {
      const [name = '', number] = text.split(' ');
      const numbers = present.get(name) ?? [];
      numbers.push(Number(number));
      present.set(name, numbers);
    }
    for (const [index, writer] of all.entries()) {
      const numbers = present.get(writer.name) ?? [];
      // Commits are synchronous, so a writer's texts are there in its order, without a gap, none twice.
      assert.deepEqual(
        numbers,
        numbers.map((_, position) => position),
        `${writer.name}: lost, twice or out of order`,
      );
      const highest = Math.max(-1, ...(acknowledged[index] ?? []));
      assert.ok(numbers.length > highest, `${writer.name}: ${highest} was acknowledged and is lost`);
    }
  } finally {
    await store.close();
  }
}
