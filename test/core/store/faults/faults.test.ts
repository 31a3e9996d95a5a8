import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { systemErrorCode } from '../../../../src/core/store/errors.ts';
import { countMessages } from '../../../../src/core/store/messages.ts';
import { setMeta } from '../../../../src/core/store/meta.ts';
import { reserveSize } from '../../../../src/core/store/reserve.ts';
import { openStore, until } from '../support/stores.ts';
import { faultTable, type FaultRow } from './table.ts';
import { SmallDisk } from '../../../support/smallDisk.ts';
import { skipBecause } from '../../../support/vscode/skip.ts';
import { Stage } from './stage.ts';

const file = path.resolve(import.meta.dirname, '../../../../docs/faults.md');

describe('A disk that is really full', function () {
  this.timeout(60_000);

  let disk: SmallDisk;
  let folder: string;

  before(function () {
    const mounted = SmallDisk.mount(3);
    if ('reason' in mounted) skipBecause(this, mounted.reason);
    disk = mounted;
    folder = disk.folder;
  });
  afterEach(() => {
    for (const name of fs.readdirSync(folder)) fs.rmSync(path.join(folder, name), { recursive: true });
  });
  after(() => disk.remove());

  it('refuses what does not fit, names the disk, keeps all that fitted, and writes again after space is freed', async () => {
    const ballast = path.join(folder, 'ballast');
    fs.writeFileSync(ballast, Buffer.alloc(1 << 20));
    const stage = await Stage.make(folder);
    let told = '';
    for (let index = 0; told === ''; index++) {
      assert.ok(index < 1000, 'the disk never became full');
      try {
        await stage.write(`${index} ${'x'.repeat(10_000)}`);
      } catch (error) {
        told = error instanceof Error ? error.message : String(error);
      }
    }
    assert.match(told, /no space left on the disk/);
    assert.ok(stage.acknowledged.length > 100);
    fs.rmSync(ballast);
    await stage.resumes();
    await stage.store.close();
  });

  it('opens and is read, takes the last words of a window into its reserve, and has a reserve again when there is room', async () => {
    const reserve = path.join(folder, 'reserve');
    const hasReserve = (): boolean =>
      (fs.statSync(reserve, { throwIfNoEntry: false })?.size ?? 0) === reserveSize;
    const stage = await Stage.make(folder);
    stage.store.follow(5);
    await until(hasReserve);
    fillUp(folder);
    const told = await stage.refused('x'.repeat(10_000));
    assert.match(told, /no space left on the disk/);

    const other = await openStore({ folder, followInterval: 5 });
    assert.equal(other.isReadOnly, false);
    assert.equal(other.read(countMessages), stage.acknowledged.length);
    await assert.rejects(
      other.write((writer) => setMeta(writer, 'key', 'x'.repeat(10_000))),
      /no space left/,
    );

    stage.store.lastWords();
    await stage.write('x'.repeat(500_000));
    assert.equal(hasReserve(), false);
    await stage.store.close();
    await other.close();

    await stage.open();
    await stage.keepsAll();
    stage.store.follow(5);
    fs.rmSync(path.join(folder, 'ballast'));
    await stage.resumes();
    stage.store.follow(5);
    await until(hasReserve);
    await stage.store.close();
  });
});

/** Until not one byte fits any more. */
function fillUp(folder: string): void {
  const descriptor = fs.openSync(path.join(folder, 'ballast'), 'a');
  try {
    for (let size = 1 << 16; size >= 1;) {
      try {
        fs.writeSync(descriptor, Buffer.alloc(size));
      } catch (error) {
        assert.equal(systemErrorCode(error), 'ENOSPC');
        size /= 2;
      }
    }
  } finally {
    fs.closeSync(descriptor);
  }
}

describe('A fault of the file system', function () {
  this.timeout(60_000);
  const told = new Map<FaultRow, string>();

  for (const row of faultTable) {
    it(`loses nothing silently and stops nothing for good: ${row.fault}`, async () => {
      told.set(row, await row.run(await Stage.make()));
    });
  }

  it('is described in docs/faults.md as it was found here (HOLDFAST_WRITE_DOCS=1 writes it)', function () {
    if (told.size < faultTable.length) skipBecause(this, 'not every fault was made in this run');
    const lines = faultTable.map((row) => {
      const sentence = told.get(row) ?? '';
      return `| ${row.fault} | ${row.happens} | ${sentence === '' ? '–' : sentence} | ${row.comesBack} |`;
    });
    const text = `# Faults\n\nMade by \`test/core/store/faults\`, which makes each fault and checks the row: nothing acknowledged is lost without being\ntold, and writing goes on when the cause is gone. Injected below the store, on real files.\n\n| fault | what happens | what the user is told | what comes back |\n| --- | --- | --- | --- |\n${lines.join('\n')}\n`;
    if (process.env['HOLDFAST_WRITE_DOCS'] === '1') fs.writeFileSync(file, text);
    assert.equal(fs.readFileSync(file, 'utf8'), text, 'docs/faults.md is not up to date');
  });
});
