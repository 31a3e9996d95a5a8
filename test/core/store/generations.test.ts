import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { verifyFolder } from '../../../src/core/store/verify/verifyFolder.ts';
import { listFaults } from '../../../src/core/store/faults.ts';
import { runCheckpoint, type CheckpointJob } from '../../../src/core/store/checkpoint.ts';
import { nodeFiles, type FileLayer } from '../../../src/core/store/fileLayer.ts';
import { encodeFrame } from '../../../src/core/store/frame.ts';
import { setMeta } from '../../../src/core/store/meta.ts';
import { loadEngine } from '../../../src/core/store/openDatabase.ts';
import { Presence } from '../../../src/core/store/presence.ts';
import { systemProbe, type ProcessProbe } from '../../../src/core/store/processProbe.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { buildCheckpointWorker } from '../../support/checkpointWorker.ts';
import {
  addChat,
  addText,
  filesWithoutSync,
  makeFolder,
  openStore,
  textsOf,
  until,
} from './support/stores.ts';
import { wasmFile } from './support/values.ts';

function names(folder: string, pattern: RegExp): string[] {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder)
    .filter((name) => pattern.test(name))
    .sort();
}

function generationsOf(folder: string): { snapshots: string[]; journals: string[] } {
  return {
    snapshots: names(folder, /^state-/).map((name) => name.replace(/-\d+-[0-9a-f]+\.db$/, '')),
    journals: names(folder, /^journal-/),
  };
}

function flip(file: string, offset: number): void {
  const bytes = fs.readFileSync(file);
  bytes[offset] = (bytes[offset] ?? 0) ^ 4;
  const descriptor = fs.openSync(file, 'r+');
  fs.writeSync(descriptor, bytes, 0, bytes.length, 0);
  fs.closeSync(descriptor);
}

/** What a checkpoint needs besides the files; no window counts as dead. */
async function checkpointServices() {
  const engine = await loadEngine(fs.readFileSync(wasmFile));
  return { engine, now: Date.now(), isWindowAlive: () => true };
}

/** Runs the checkpoint until this part of its snapshot is written; nothing comes after that. */
function runKilled(
  services: Awaited<ReturnType<typeof checkpointServices>>,
  job: CheckpointJob,
  part: number,
): void {
  const killed = (): never => {
    throw new RangeError('killed');
  };
  const files: FileLayer = {
    ...filesWithoutSync,
    append(descriptor, bytes) {
      filesWithoutSync.append(descriptor, bytes.subarray(0, Math.floor(bytes.length * part)));
      return killed();
    },
    rename: killed,
    remove: (file) => (file.endsWith('.tmp') && !fs.existsSync(file) ? undefined : killed()),
  };
  assert.throws(() => runCheckpoint({ files, ...services }, job), RangeError);
}

describe('generations', function () {
  this.timeout(60_000);
  let worker: string;

  before(async () => {
    worker = await buildCheckpointWorker(fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-worker-')));
  });

  after(() => fs.rmSync(path.dirname(worker), { recursive: true, force: true }));

  async function fill(store: Store, sessionId: string, count: number, name: string): Promise<string[]> {
    const texts = Array.from({ length: count }, (_, index) => `${name} ${index}`);
    await Promise.all(texts.map((text) => store.write(addText(sessionId, text))));
    return texts;
  }

  it('writes nothing once it is closed, not even into a file that got the number of its journal', async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const syncFolder: FileLayer['syncFolder'] = async (folder) => {
      await gate;
      return nodeFiles.syncFolder(folder);
    };
    const store = await openStore({
      files: { ...nodeFiles, syncFolder },
      runCheckpoint: () => Promise.resolve(),
    });
    await addChat(store, ['kept']);
    const checkpoint = store.checkpoint();
    await store.close();
    const folder = makeFolder();
    const files = Array.from({ length: 30 }, (_, index) => path.join(folder, String(index)));
    const content = Buffer.alloc(100_000, '\n');
    for (const file of files) fs.writeFileSync(file, content);
    const descriptors = files.map((file) => fs.openSync(file, 'a+'));
    release();
    await assert.rejects(checkpoint, { reason: 'closed' });
    for (const descriptor of descriptors) fs.closeSync(descriptor);
    assert.deepEqual(
      files.filter((file) => fs.statSync(file).size !== content.length),
      [],
    );
    const next = await openStore({ folder: store.folder });
    assert.deepEqual((await verifyFolder(next.folder, wasmFile)).faults, []);
  });

  it('end by themselves when the journal has grown, and two snapshots are kept', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder, checkpointWorkerFile: worker, journalLimit: 20_000 });
    const other = await openStore({ folder });
    const session = await addChat(store);
    const expected: string[] = [];
    while (store.generation < 5) {
      expected.push(...(await fill(store, session.id, 20, `g${store.generation} ${expected.length}`)));
      await store.checkpointSettled();
    }
    assert.deepEqual(textsOf(other, session.id), expected);
    assert.equal(other.generation, 5);
    assert.deepEqual(generationsOf(folder), {
      snapshots: ['state-4', 'state-5'],
      journals: ['journal-4.log', 'journal-5.log'],
    });
    const fresh = await openStore({ folder });
    assert.deepEqual(textsOf(fresh, session.id), expected);
  });

  it('are found again by a window that slept through several of them', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder, checkpointWorkerFile: worker });
    const session = await addChat(store);
    const sleeper = await openStore({ folder });
    const expected: string[] = [];
    for (let round = 0; round < 4; round++) {
      expected.push(...(await fill(store, session.id, 5, `round ${round}`)));
      await store.checkpoint();
    }
    assert.deepEqual(names(folder, /^journal-1\.log$/), []);
    await sleeper.write(addText(session.id, 'awake'));
    assert.deepEqual(textsOf(store, session.id), [...expected, 'awake']);
    assert.equal(sleeper.generation, store.generation);
  });

  it('are finished by another window when the sealer died', async () => {
    const folder = makeFolder();
    const dies = await openStore({
      folder,
      runCheckpoint: () => Promise.reject(new Error('died')),
      windowId: 'dies',
    });
    const session = await addChat(dies, ['one']);
    const other = await openStore({ folder, checkpointWorkerFile: worker, followInterval: 5 });
    await assert.rejects(dies.checkpoint(), /died/);
    await dies.close();
    await until(() => names(folder, /^state-2-/).length === 1);
    await other.checkpointSettled();
    assert.deepEqual(textsOf(await openStore({ folder }), session.id), ['one']);
  });

  it('count as made when other windows were faster, whatever of the old files is left', async () => {
    const folder = makeFolder();
    const jobs: CheckpointJob[] = [];
    const slow = await openStore({
      folder,
      runCheckpoint: async (job) => {
        jobs.push(job);
        while (fast.generation < 4) await fast.checkpoint();
      },
    });
    const session = await addChat(slow, ['one']);
    const fast = await openStore({ folder, checkpointWorkerFile: worker });
    const before = nodeFiles.list(folder);
    await slow.checkpoint();
    const [job] = jobs;
    assert.ok(job);
    assert.deepEqual(generationsOf(folder).journals, ['journal-3.log', 'journal-4.log']);
    const services = await checkpointServices();
    runCheckpoint({ files: nodeFiles, ...services }, job);
    // The same while the others are at it: the first looks at the folder show what is gone when it is opened.
    let looks = 0;
    const late: FileLayer = { ...nodeFiles, list: () => (looks++ < 3 ? before : nodeFiles.list(folder)) };
    runCheckpoint({ files: late, ...services }, job);
    assert.ok(looks > 3);
    assert.deepEqual(generationsOf(folder).snapshots, ['state-3', 'state-4']);
    assert.deepEqual(textsOf(await openStore({ folder }), session.id), ['one']);
  });

  it('fail with the reason when the journal is gone and nobody made the snapshot', async () => {
    const folder = makeFolder();
    const jobs: CheckpointJob[] = [];
    const store = await openStore({ folder, runCheckpoint: (job) => Promise.resolve(void jobs.push(job)) });
    await addChat(store, ['one']);
    await store.checkpoint();
    const [job] = jobs;
    assert.ok(job);
    fs.rmSync(path.join(folder, 'journal-1.log'));
    const services = await checkpointServices();
    assert.throws(() => runCheckpoint({ files: nodeFiles, ...services }, job), { code: 'ENOENT' });
  });

  it('whose snapshot is cut off at any byte by a kill leave the state before, and are made again', async () => {
    const folder = makeFolder();
    const jobs: CheckpointJob[] = [];
    const options = { folder, files: filesWithoutSync };
    const store = await openStore({
      ...options,
      runCheckpoint: (job) => Promise.resolve(void jobs.push(job)),
    });
    const texts = ['one', 'two '.repeat(40_000)];
    const session = await addChat(store, texts);
    await store.checkpoint();
    await store.close();
    const [job] = jobs;
    assert.ok(job);
    const services = await checkpointServices();
    for (let kill = 0; kill < 20; kill++) {
      const copy = makeFolder();
      fs.cpSync(folder, copy, { recursive: true });
      runKilled(services, { ...job, folder: copy }, kill / 20);
      assert.deepEqual(names(copy, /^state-.*\.db$/), [], 'nothing is published');
      assert.equal(names(copy, /\.tmp$/).length, 1, 'it was killed while it wrote');
      const opened = await openStore({ folder: copy, files: filesWithoutSync });
      assert.deepEqual(textsOf(opened, session.id), texts);
      await opened.close();
      runCheckpoint({ files: filesWithoutSync, ...services }, { ...job, folder: copy });
      assert.equal(names(copy, /^state-2-.*\.db$/).length, 1);
      const again = await openStore({ folder: copy, files: filesWithoutSync });
      assert.deepEqual(textsOf(again, session.id), texts);
      await again.close();
    }
  });

  it('fall back to the older snapshot and both journals, and the damaged file is kept aside', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder, checkpointWorkerFile: worker });
    const session = await addChat(store, ['one']);
    await store.checkpoint();
    await store.write(addText(session.id, 'two'));
    await store.checkpoint();
    await store.write(addText(session.id, 'three'));
    await store.close();
    const [newest = ''] = names(folder, /^state-3-/);
    flip(path.join(folder, newest), 5000);
    const logged: string[] = [];
    const again = await openStore({
      folder,
      checkpointWorkerFile: worker,
      followInterval: 5,
      log: (line) => logged.push(line),
    });
    assert.deepEqual(textsOf(again, session.id), ['one', 'two', 'three']);
    assert.ok(logged.some((line) => line.includes(newest)));
    await until(() => names(path.join(folder, 'damaged'), /state-3/).length === 1);
    await until(() => names(folder, /^state-3-/).length === 1);
    await again.checkpointSettled();
    assert.deepEqual(again.read(listFaults), []);
  });

  it('damaged while no window lives: what is readable is kept, what is missing is told', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder });
    const session = await addChat(store);
    const journal = path.join(folder, 'journal-1.log');
    await store.write(addText(session.id, 'one'));
    const { size } = fs.statSync(journal);
    await store.write(addText(session.id, 'lost'));
    await store.write(addText(session.id, 'three'));
    await store.close();
    flip(journal, size + 100);
    const again = await openStore({ folder });
    assert.deepEqual(textsOf(again, session.id), ['one', 'three']);
    const [fault] = again.read(listFaults);
    assert.deepEqual(
      { missing: fault?.missing, aside: fault?.aside },
      { missing: [[4, 4]], aside: ['journal-1.log'] },
    );
    assert.equal(names(path.join(folder, 'damaged'), /journal-1/).length, 1);
    await again.write(addText(session.id, 'four'));
    assert.deepEqual(textsOf(await openStore({ folder }), session.id), ['one', 'three', 'four']);
  });

  it('damaged while a window lives: that window saves everything, and both go on', async () => {
    const folder = makeFolder();
    const live = await openStore({ folder, followInterval: 5 });
    const session = await addChat(live, ['one']);
    const journal = path.join(folder, 'journal-1.log');
    const { size } = fs.statSync(journal);
    await live.write(addText(session.id, 'two'));
    await live.write(addText(session.id, 'three'));
    flip(journal, size + 100);
    const other = await openStore({ folder });
    assert.deepEqual(textsOf(other, session.id), ['one', 'two', 'three']);
    await other.write(addText(session.id, 'four'));
    assert.deepEqual(textsOf(live, session.id), ['one', 'two', 'three', 'four']);
    assert.deepEqual(other.read(listFaults), []);
    assert.deepEqual(names(folder, /^journal-/), ['journal-2.log']);
    assert.equal(names(path.join(folder, 'damaged'), /-journal-1\.log$/).length, 1);
    const report = await verifyFolder(folder, wasmFile);
    assert.deepEqual(report.faults, []);
  });

  for (const [how, lose] of [
    ['deleted with its folder', (folder: string) => fs.rmSync(folder, { recursive: true })],
    ['cut short', (folder: string) => fs.truncateSync(path.join(folder, 'journal-1.log'), 10)],
  ] as const) {
    it(`${how} under a live window: saved again from memory`, async () => {
      const folder = makeFolder();
      const store = await openStore({ folder });
      const session = await addChat(store, ['one', 'two']);
      lose(folder);
      await store.write(addText(session.id, 'three'));
      assert.deepEqual(textsOf(await openStore({ folder }), session.id), ['one', 'two', 'three']);
      assert.deepEqual((await verifyFolder(folder, wasmFile)).faults, []);
    });
  }

  it('gone but for the mark: told, not taken for a new store', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder });
    await addChat(store, ['one']);
    await store.close();
    fs.rmSync(path.join(folder, 'journal-1.log'));
    const again = await openStore({ folder });
    assert.deepEqual(
      again.read(listFaults).map(({ missing }) => missing),
      [[[1, 2]]],
    );
  });

  it('written by a newer version: not read, or not written, and a reload is asked for', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder });
    const session = await addChat(store, ['one']);
    const newer = await openStore({ folder });
    await newer.write((writer) => setMeta(writer, 'min_writer', '999'));
    assert.deepEqual(textsOf(store, session.id), ['one']);
    await assert.rejects(store.write(addText(session.id, 'two')), { reason: 'outdated' });
    const other = makeFolder();
    const reader = await openStore({ folder: other });
    const writing = await openStore({ folder: other });
    await writing.write((writer) => setMeta(writer, 'min_reader', '999'));
    assert.throws(() => textsOf(reader, session.id), { reason: 'outdated' });
    await assert.rejects(openStore({ folder: other }), { reason: 'outdated' });
  });

  it('a frame that cannot be replayed stops writing, never reading', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder });
    const session = await addChat(store, ['one']);
    const lines = fs.readFileSync(path.join(folder, 'journal-1.log'), 'latin1').trim().split('\n');
    const crc = Number.parseInt(lines.at(-1)?.slice(0, 8) ?? '', 16);
    const header = {
      seq: store.seq + 1,
      previous: crc,
      durable: 0,
      transaction: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    };
    const strange = encodeFrame(header, '[["INSERT INTO unknown_table(a) VALUES(1)",[]]]');
    fs.appendFileSync(path.join(folder, 'journal-1.log'), strange.bytes);
    assert.deepEqual(textsOf(store, session.id), ['one']);
    assert.equal(store.failure?.reason, 'replay_failed');
    await assert.rejects(store.write(addText(session.id, 'two')), { reason: 'replay_failed' });
  });
});

describe('presence', () => {
  const probe = (overrides: Partial<ProcessProbe>): ProcessProbe => ({ ...systemProbe(), ...overrides });

  function presence(
    folder: string,
    windowId: string,
    using: ProcessProbe,
    clock = (): number => 0,
  ): Presence {
    return new Presence({ files: nodeFiles, folder, windowId, clock, probe: using, log: () => undefined });
  }

  it('is that of the process: gone, or another start, is dead; a sleep is not', () => {
    const folder = makeFolder();
    const own = presence(folder, 'own', systemProbe());
    const sleeping = presence(folder, 'sleeping', systemProbe());
    const gone = presence(folder, 'gone', probe({ pid: 2 ** 22 + 1 }));
    const recycled = presence(folder, 'recycled', probe({ start: '1' }));
    for (const one of [own, sleeping, gone, recycled]) one.start();
    fs.utimesSync(path.join(folder, 'windows', 'sleeping.json'), 1, 1);
    assert.deepEqual(
      ['own', 'sleeping', 'gone', 'recycled', 'never'].map((id) => own.isAlive(id)),
      [true, true, false, false, false],
    );
    for (const one of [own, sleeping, gone, recycled]) one.stop();
    assert.deepEqual(fs.readdirSync(path.join(folder, 'windows')), []);
  });

  it('at a glance is that of any process with its id: what a glance cannot tell counts as alive', () => {
    const folder = makeFolder();
    const own = presence(folder, 'own', systemProbe());
    const windows = [
      presence(folder, 'living', systemProbe()),
      presence(folder, 'gone', probe({ pid: 2 ** 22 + 1 })),
      presence(folder, 'recycled', probe({ start: '1' })),
      presence(folder, 'far', probe({ pid: 2 ** 22 + 1, host: 'elsewhere' })),
    ];
    for (const one of windows) one.start();
    const look = (): boolean[] => ['living', 'gone', 'recycled', 'far'].map((id) => own.seemsAlive(id));
    assert.deepEqual(look(), [true, true, true, true], 'none was looked at yet');
    for (const id of ['living', 'gone', 'recycled', 'far']) own.isAlive(id);
    assert.deepEqual(look(), [true, false, true, true]);
    for (const one of windows) one.stop();
  });

  it('on another host ends after 60 s of our clock without a change', () => {
    const folder = makeFolder();
    let time = 0;
    const own = presence(folder, 'own', systemProbe(), () => time);
    const far = presence(folder, 'far', probe({ host: 'elsewhere' }));
    far.start();
    const alive: boolean[] = [];
    for (const at of [0, 59_000, 61_000]) {
      time = at;
      alive.push(own.isAlive('far'));
    }
    fs.utimesSync(path.join(folder, 'windows', 'far.json'), 5, 5);
    alive.push(own.isAlive('far'));
    assert.deepEqual(alive, [true, true, false, true]);
    far.stop();
  });
});
