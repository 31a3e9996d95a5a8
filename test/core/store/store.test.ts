import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { nodeFiles, type FileLayer } from '../../../src/core/store/fileLayer.ts';
import { getMeta, setMeta } from '../../../src/core/store/meta.ts';
import { insertMessage } from '../../../src/core/store/messages.ts';
import { insertSession, listSessions, renameSession } from '../../../src/core/store/sessions.ts';
import type { StoreChange } from '../../../src/core/store/changes.ts';
import { filesWithoutSync, addChat, addText, makeFolder, openStore, textsOf } from './support/stores.ts';
import { aMessage, aSession } from './support/values.ts';

function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function journalOf(folder: string): string {
  return path.join(folder, 'journal-1.log');
}

describe('store', function () {
  this.timeout(30_000);

  it('gives back after reopening what was written', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder });
    const session = await addChat(store, ['one', 'two 中文 👍']);
    await store.close();
    const again = await openStore({ folder });
    assert.deepEqual(textsOf(again, session.id), ['one', 'two 中文 👍']);
  });

  it('shows a change as soon as write returns, and acknowledges it after the sync', async () => {
    const synced: number[] = [];
    const files: FileLayer = {
      ...nodeFiles,
      async sync(descriptor) {
        const { size } = nodeFiles.status(descriptor);
        await nodeFiles.sync(descriptor);
        synced.push(size);
      },
    };
    const store = await openStore({ files });
    const session = await addChat(store);
    const written = store.write(addText(session.id, 'now'));
    assert.deepEqual(textsOf(store, session.id), ['now']);
    const { size } = fs.statSync(journalOf(store.folder));
    assert.ok(!synced.includes(size));
    await written;
    assert.ok(synced.includes(size));
  });

  it('shares one sync among concurrent writes', async () => {
    let syncs = 0;
    const files: FileLayer = {
      ...nodeFiles,
      sync(descriptor) {
        syncs += 1;
        return nodeFiles.sync(descriptor);
      },
    };
    const store = await openStore({ files });
    const session = await addChat(store);
    await store.flush();
    syncs = 0;
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => store.write(addText(session.id, `${index}`))),
    );
    assert.ok(syncs <= 2, `${syncs} syncs`);
    assert.equal(textsOf(store, session.id).length, 100);
  });

  it('keeps every change of two windows that write in turns', async () => {
    const folder = makeFolder();
    const first = await openStore({ folder });
    const second = await openStore({ folder });
    const session = await addChat(first);
    const expected: string[] = [];
    const writes: Promise<number>[] = [];
    for (let index = 0; index < 50; index++) {
      for (const [name, store] of [
        ['first', first],
        ['second', second],
      ] as const) {
        expected.push(`${name} ${index}`);
        writes.push(store.write(addText(session.id, `${name} ${index}`)));
      }
    }
    const seqs = await Promise.all(writes);
    assert.deepEqual(
      seqs,
      expected.map((_, index) => index + 1),
    );
    assert.deepEqual([textsOf(first, session.id), textsOf(second, session.id)], [expected, expected]);
  });

  it('runs a change again on the newer state when another window was faster', async () => {
    const folder = makeFolder();
    const second = await openStore({ folder });
    const session = await addChat(second);
    let runs = 0;
    let interfere = true;
    const files: FileLayer = {
      ...nodeFiles,
      append(descriptor, bytes) {
        if (interfere && runs > 0) {
          interfere = false;
          void second.write(addText(session.id, 'theirs'));
        }
        return nodeFiles.append(descriptor, bytes);
      },
    };
    const first = await openStore({ folder, files });
    const message = aMessage(session.id, { text: 'ours' });
    const position = await first.write((writer) => {
      runs += 1;
      return insertMessage(writer, message);
    });
    assert.deepEqual({ runs, position }, { runs: 2, position: 2 });
    assert.deepEqual(textsOf(first, session.id), ['theirs', 'ours']);
    assert.deepEqual(textsOf(second, session.id), ['theirs', 'ours']);
  });

  it('leaves nothing behind of a change that fails', async () => {
    const store = await openStore();
    const session = await addChat(store, ['kept']);
    const { size } = fs.statSync(journalOf(store.folder));
    const failed = store.write((writer) => {
      insertMessage(writer, aMessage(session.id, { text: 'gone' }));
      throw new RangeError('no');
    });
    await assert.rejects(failed, RangeError);
    assert.deepEqual(textsOf(store, session.id), ['kept']);
    assert.equal(fs.statSync(journalOf(store.folder)).size, size);
    await assert.rejects(
      store.write((writer) => writer.run('INSERT INTO missing(a) VALUES(1)')),
      /no such table/,
    );
    await store.write(addText(session.id, 'next'));
    assert.deepEqual(textsOf(store, session.id), ['kept', 'next']);
  });

  it('refuses statements that other windows would replay differently', async () => {
    const store = await openStore();
    const refused = [
      `INSERT INTO fences VALUES('a', 1)`,
      'SELECT 1',
      'PRAGMA user_version = 3',
      'BEGIN',
      'UPDATE meta SET value = 1 WHERE rowid = 1',
      `INSERT INTO fences(origin, seq) VALUES('a', random())`,
      `INSERT INTO meta(key, value) VALUES('a', datetime('now'))`,
      `INSERT INTO meta(key, value) VALUES('a', CURRENT_TIMESTAMP)`,
      `INSERT INTO meta(key, value) VALUES('a', strftime('%s', 'now'))`,
    ];
    for (const sql of refused)
      await assert.rejects(
        store.write((writer) => writer.run(sql)),
        Error,
        sql,
      );
    assert.throws(() => store.read((reader) => reader.all(`DELETE FROM meta`)), {
      reason: 'invalid_statement',
    });
    assert.throws(() => store.read((reader) => reader.get(`WITH a AS (SELECT 1) DELETE FROM meta`)), {
      reason: 'invalid_statement',
    });
  });

  it('tells a full disk, changes nothing, and goes on when there is space', async () => {
    let isFull = false;
    const files: FileLayer = {
      ...nodeFiles,
      append(descriptor, bytes) {
        if (!isFull) return nodeFiles.append(descriptor, bytes);
        return nodeFiles.append(descriptor, bytes.subarray(0, bytes.length / 2));
      },
    };
    const store = await openStore({ files });
    const session = await addChat(store, ['before']);
    isFull = true;
    await assert.rejects(store.write(addText(session.id, 'lost')), { reason: 'full' });
    assert.deepEqual(textsOf(store, session.id), ['before']);
    isFull = false;
    await store.write(addText(session.id, 'after'));
    const other = await openStore({ folder: store.folder });
    assert.deepEqual(textsOf(other, session.id), ['before', 'after']);
  });

  it('takes a frame that lacks only its last newline for written, as every reader will', async () => {
    let isShort = false;
    const files: FileLayer = {
      ...nodeFiles,
      append(descriptor, bytes) {
        return nodeFiles.append(descriptor, isShort ? bytes.subarray(0, -1) : bytes);
      },
    };
    const store = await openStore({ files });
    const session = await addChat(store);
    isShort = true;
    await store.write(addText(session.id, 'one'));
    await store.write(addText(session.id, 'two'));
    const other = await openStore({ folder: store.folder });
    await other.write(addText(session.id, 'three'));
    assert.deepEqual(textsOf(store, session.id), ['one', 'two', 'three']);
  });

  it('starts a generation from memory when the disk refuses to sync, and never syncs that file again', async () => {
    let isBroken = false;
    let refused = 0;
    const files: FileLayer = {
      ...nodeFiles,
      sync(descriptor) {
        if (!isBroken) return nodeFiles.sync(descriptor);
        isBroken = false;
        refused += 1;
        return Promise.reject(systemError('EIO'));
      },
    };
    const store = await openStore({ files });
    const session = await addChat(store);
    isBroken = true;
    await store.write(addText(session.id, 'unsure'));
    assert.deepEqual({ generation: store.generation, refused }, { generation: 2, refused: 1 });
    await store.write(addText(session.id, 'next'));
    assert.ok(!fs.existsSync(journalOf(store.folder)), 'what cannot be trusted is aside');
    const other = await openStore({ folder: store.folder });
    assert.deepEqual(textsOf(other, session.id), ['unsure', 'next']);
  });

  it('does not acknowledge what cannot be synced anywhere, and later saves it elsewhere', async () => {
    let isBroken = false;
    const files: FileLayer = {
      ...nodeFiles,
      sync: (descriptor) => (isBroken ? Promise.reject(systemError('EIO')) : nodeFiles.sync(descriptor)),
      syncNow(descriptor) {
        if (isBroken) throw systemError('EIO');
        nodeFiles.syncNow(descriptor);
      },
    };
    const store = await openStore({ files });
    const session = await addChat(store);
    isBroken = true;
    await assert.rejects(store.write(addText(session.id, 'unsure')), { reason: 'write_failed' });
    await assert.rejects(store.write(addText(session.id, 'unsure too')), { reason: 'write_failed' });
    isBroken = false;
    const { generation } = store;
    await store.write(addText(session.id, 'next'));
    assert.equal(store.generation, generation + 1, 'it rests on no file that was refused');
    const other = await openStore({ folder: store.folder });
    assert.deepEqual(textsOf(other, session.id), ['unsure', 'unsure too', 'next']);
  });

  it('opens a folder that cannot be written to for reading, and says what to do', async () => {
    const folder = makeFolder();
    const writable = await openStore({ folder });
    const session = await addChat(writable, ['kept']);
    const files: FileLayer = {
      ...nodeFiles,
      open(file, mode) {
        if (mode !== 'read') throw systemError('EACCES');
        return nodeFiles.open(file, mode);
      },
    };
    const store = await openStore({ folder, files });
    assert.equal(store.isReadOnly, true);
    assert.deepEqual(textsOf(store, session.id), ['kept']);
    await assert.rejects(store.write(addText(session.id, 'no')), (error: Error & { reason?: string }) => {
      assert.equal(error.reason, 'read_only');
      assert.ok(error.message.includes(folder));
      return true;
    });
    await writable.write(addText(session.id, 'more'));
    assert.deepEqual(textsOf(store, session.id), ['kept', 'more']);
  });

  it('names a folder that cannot be used', async () => {
    const file = path.join(makeFolder(), 'file');
    fs.writeFileSync(file, '');
    await assert.rejects(openStore({ folder: path.join(file, 'store') }), { reason: 'unavailable' });
  });

  it('keeps folder and files to the user', async () => {
    const folder = path.join(makeFolder(), 'deep', 'store');
    const store = await openStore({ folder });
    await addChat(store, ['secret']);
    await store.close();
    assert.equal(fs.statSync(folder).mode & 0o777, 0o700);
    for (const name of fs.readdirSync(folder)) {
      const stats = fs.statSync(path.join(folder, name));
      if (stats.isFile()) assert.equal(stats.mode & 0o777, 0o600, name);
    }
  });

  it('announces own and other changes after the fact', async () => {
    const folder = makeFolder();
    const first = await openStore({ folder });
    const second = await openStore({ folder, followInterval: 5 });
    const seen: StoreChange[] = [];
    const heard = new Promise<void>((resolve) => {
      second.onDidChange((change) => {
        seen.push(change);
        resolve();
      });
    });
    const own: StoreChange[] = [];
    const stop = first.onDidChange((change) => own.push(change));
    await addChat(first, ['hello']);
    await heard;
    stop();
    await first.write((writer) => insertSession(writer, aSession()));
    assert.deepEqual(own, [{ origin: 'own', seq: 2 }]);
    assert.deepEqual(seen[0], { origin: 'other', seq: 2 });
  });

  it('refuses to be used inside its own transaction, or after closing', async () => {
    const store = await openStore();
    await assert.rejects(
      store.write(() => store.read((reader) => listSessions(reader, { limit: 1 }))),
      { reason: 'invalid_statement' },
    );
    let leaked: (() => void) | undefined;
    const session = await addChat(store);
    await store.write((writer) => {
      leaked = () => renameSession(writer, session.id, 'late');
    });
    assert.throws(() => leaked?.(), { reason: 'invalid_statement' });
    await store.close();
    await store.close();
    await assert.rejects(
      store.write(() => undefined),
      { reason: 'closed' },
    );
    assert.throws(() => store.read(() => undefined), { reason: 'closed' });
  });

  it('reads a journal in pieces, across what is longer than a piece and counts for nobody', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder });
    const session = await addChat(store);
    const expected: string[] = [];
    const fill = async (): Promise<void> => {
      for (let count = 0; count < 12; count++) {
        const text = `${count} ${'word '.repeat(40_000)}`;
        await store.write(addText(session.id, text));
        expected.push(text);
      }
    };
    await fill();
    fs.appendFileSync(journalOf(folder), `\n${'x'.repeat(3 << 20)}\n`);
    await fill();
    const { size } = fs.statSync(journalOf(folder));
    let longestRead = 0;
    const files: FileLayer = {
      ...nodeFiles,
      read(descriptor, target, position) {
        longestRead = Math.max(longestRead, target.length);
        return nodeFiles.read(descriptor, target, position);
      },
    };
    const opened = await openStore({ folder, files });
    assert.deepEqual(textsOf(opened, session.id), expected);
    assert.ok(size > 7_500_000 && longestRead <= 4 << 20, `${longestRead} of ${size} bytes at once`);
  });

  it('loads every earlier change when the journal is cut at any byte', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder });
    const session = await addChat(store, ['one']);
    const { size } = fs.statSync(journalOf(folder));
    await store.write((writer) => setMeta(writer, 'note', 'two 中文'));
    await store.close();
    const whole = fs.readFileSync(journalOf(folder));
    for (let length = size; length <= whole.length; length++) {
      const copy = makeFolder();
      fs.writeFileSync(journalOf(copy), whole.subarray(0, length));
      const cut = await openStore({ folder: copy, files: filesWithoutSync });
      const note = cut.read((reader) => getMeta(reader, 'note'));
      assert.equal(
        note,
        length >= whole.length - 1 ? 'two 中文' : null,
        `cut after ${length} of ${whole.length}`,
      );
      assert.deepEqual(textsOf(cut, session.id), ['one']);
      await cut.write(addText(session.id, 'next'));
      await cut.close();
      const again = await openStore({ folder: copy, files: filesWithoutSync });
      assert.deepEqual(textsOf(again, session.id), ['one', 'next']);
      await again.close();
    }
  });
});
