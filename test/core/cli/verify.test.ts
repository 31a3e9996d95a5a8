import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { runCheckpoint } from '../../../src/core/store/checkpoint.ts';
import type { CheckpointRunner } from '../../../src/core/store/checkpointRunner.ts';
import { nodeFiles } from '../../../src/core/store/fileLayer.ts';
import { loadEngine } from '../../../src/core/store/openDatabase.ts';
import { addChat, addText, makeFolder, openStore } from '../store/support/stores.ts';
import { wasmFile } from '../store/support/values.ts';
import { messageLine, reportSchema, run, runJson, start } from './commandLine.ts';

async function checkpoints(): Promise<CheckpointRunner> {
  const engine = await loadEngine(fs.readFileSync(wasmFile));
  return async (job, isWindowAlive) =>
    runCheckpoint({ files: nodeFiles, engine, now: Date.now(), isWindowAlive }, job);
}

/** Two generations with a snapshot between them, closed. */
async function makeGenerations(): Promise<string> {
  const folder = makeFolder();
  const store = await openStore({ folder, runCheckpoint: await checkpoints() });
  const session = await addChat(store, ['one', 'two']);
  await store.checkpoint();
  for (let index = 0; index < 5; index++) await store.write(addText(session.id, `later ${index}`));
  await store.close();
  return folder;
}

function namesIn(folder: string, pattern: RegExp): string[] {
  return fs.readdirSync(folder).filter((name) => pattern.test(name));
}

/** Contents of every file, to see that nothing was changed. */
function contents(folder: string): Record<string, string> {
  const names = namesIn(folder, /^(state|journal|mark)/);
  return Object.fromEntries(names.map((name) => [name, fs.readFileSync(path.join(folder, name), 'latin1')]));
}

function flip(file: string, offset: number): void {
  const bytes = fs.readFileSync(file);
  bytes[offset] = (bytes[offset] ?? 0) ^ 0x10;
  fs.writeFileSync(file, bytes);
}

const verify = (folder: string, code = 0) => runJson(reportSchema, ['verify', '--store', folder], code);

describe('holdfast verify', function () {
  this.timeout(120_000);

  it('counts what there is', async () => {
    const folder = await makeGenerations();
    const before = contents(folder);
    const report = await verify(folder);
    // The schema, the chat, the seal, five messages.
    const blobs = { blobs: 0, unnamedBlobs: 0 };
    const expected = {
      ok: true,
      faults: [],
      sessions: 1,
      messages: 7,
      frames: 8,
      skippedFrames: 0,
      ...blobs,
    };
    assert.deepEqual(report, expected);
    assert.match((await run(['verify', '--store', folder])).stdout, /Everything is sound\.\n$/);
    assert.deepEqual(contents(folder), before);
  });

  it('finds a flipped bit in a journal, an older journal and a snapshot, and changes nothing', async () => {
    for (const pattern of [/^journal-2/, /^journal-1/, /^state-2/, /^mark$/]) {
      const folder = await makeGenerations();
      const [name = ''] = namesIn(folder, pattern);
      flip(path.join(folder, name), Math.floor(fs.statSync(path.join(folder, name)).size / 2));
      const before = contents(folder);
      const report = await verify(folder, 1);
      assert.equal(report.ok, false, name);
      assert.ok(
        report.faults.some((fault) => fault.includes(name)),
        JSON.stringify(report.faults),
      );
      assert.deepEqual(contents(folder), before);
    }
  });

  it('finds a lost end, a lost journal and a lost snapshot', async () => {
    const losses: ((folder: string) => void)[] = [
      (folder) => {
        const file = path.join(folder, 'journal-2.log');
        fs.truncateSync(file, fs.statSync(file).size - 10);
      },
      (folder) => fs.rmSync(path.join(folder, 'journal-2.log')),
      (folder) => {
        for (const name of namesIn(folder, /^(state|journal)/)) fs.rmSync(path.join(folder, name));
      },
    ];
    for (const lose of losses) {
      const folder = await makeGenerations();
      lose(folder);
      const report = await verify(folder, 1);
      assert.ok(report.faults.length > 0);
    }
    const folder = await makeGenerations();
    fs.rmSync(path.join(folder, namesIn(folder, /^state-2/)[0] ?? ''));
    // The journals alone still hold everything.
    assert.deepEqual((await verify(folder)).messages, 7);
  });

  it('finds references to what is not there, and a count that is not true', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder });
    const session = await addChat(store, ['one']);
    await store.write((writer) => {
      const { id } = session;
      writer.run(`UPDATE messages SET copy_of = 'gone-message' WHERE session_id = ?`, [id]);
      writer.run(
        `UPDATE sessions SET parent_id = 'gone-parent', edge = 'branch', message_count = 9 WHERE id = ?`,
        [id],
      );
      writer.run(
        `INSERT INTO leases(session_id, runtime_id, window_id, epoch, acquired_at, is_held) VALUES('gone-leased', 'r', 'w', 1, 1, 0)`,
      );
      writer.run(
        `INSERT INTO routes(key, session_id, title, resume_pending, updated_at) VALUES('panel:x', 'gone-shown', '', 0, 1)`,
      );
    });
    await store.write(addText('gone-chat', 'stray'));
    await store.write((writer) =>
      writer.run(
        `INSERT INTO sessions(id, source, title, title_source, created_at, last_activity_at, last_activity_seq, pinned, message_count, preview, input_tokens, output_tokens) VALUES('odd', 'nowhere', '', 'none', 1, 1, 1, 0, 0, '', 0, 0)`,
      ),
    );
    const { faults } = await verify(folder, 1);
    const targets = [
      'gone-message',
      'gone-parent',
      'gone-leased',
      'gone-shown',
      'gone-chat',
      'listed with 9',
      'chat odd',
    ];
    for (const target of targets) {
      assert.equal(
        faults.filter((fault) => fault.includes(target)).length,
        1,
        `${target}: ${faults.join('\n')}`,
      );
    }
    assert.equal(faults.length, targets.length, faults.join('\n'));
  });

  it('takes what a killed writer left for what it is', async () => {
    const folder = await makeGenerations();
    fs.appendFileSync(path.join(folder, 'journal-2.log'), '\n0123abcd 99 torn');
    assert.deepEqual((await verify(folder)).skippedFrames, 0);
    await run(['append', '--store', folder, '--session', 'chat'], messageLine('a'));
    assert.deepEqual((await verify(folder)).skippedFrames, 1);
  });

  it('finds no fault in the work of live windows that write and make checkpoints', async () => {
    const folder = makeFolder();
    const window = await openStore({ folder, runCheckpoint: await checkpoints() });
    await addChat(window, ['first']);
    const appending = await start(['append', '--store', folder, '--session', 'chat', '--window', '4']);
    appending.process.stdin.end(
      Array.from({ length: 5000 }, (_, index) => messageLine(`m${index}`)).join(''),
    );
    let verified = 0;
    while (appending.process.exitCode === null && verified < 6) {
      const [report] = await Promise.all([verify(folder), window.checkpoint()]);
      assert.deepEqual([report.ok, report.faults], [true, []]);
      verified += 1;
    }
    assert.equal((await appending.ended).code, 0);
    assert.ok(window.generation > 3);
    assert.deepEqual((await verify(folder)).messages, 5001);
  });
});
