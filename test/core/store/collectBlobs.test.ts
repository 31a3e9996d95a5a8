import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { ulid } from 'ulid';
import { Blobs } from '../../../src/core/store/blobs.ts';
import { runCheckpoint } from '../../../src/core/store/checkpoint.ts';
import { saveDraft } from '../../../src/core/store/drafts.ts';
import { nodeFiles } from '../../../src/core/store/fileLayer.ts';
import { copyMessage, insertMessage } from '../../../src/core/store/messages.ts';
import { loadEngine } from '../../../src/core/store/openDatabase.ts';
import type { Store } from '../../../src/core/store/store.ts';
import type { StoreOptions } from '../../../src/core/store/storeOptions.ts';
import { salvage } from '../../../src/core/store/salvage.ts';
import { verifyFolder } from '../../../src/core/store/verify/verifyFolder.ts';
import { addChat, addText, makeFolder, openStore, textsOf } from './support/stores.ts';
import { aMessage, wasmFile } from './support/values.ts';

const large = 'Nothing of it is lost. '.repeat(20_000);

function blobsOf({ folder }: Pick<Store, 'folder'>): string[] {
  return fs.readdirSync(path.join(folder, 'blobs')).sort();
}

/** A window that makes its checkpoints itself. */
async function openWindow(overrides: Partial<StoreOptions> = {}): Promise<Store> {
  const engine = await loadEngine(fs.readFileSync(wasmFile));
  const files = overrides.files ?? nodeFiles;
  return openStore({
    ...overrides,
    runCheckpoint: async (job, isWindowAlive) =>
      runCheckpoint({ files, engine, now: Date.now(), isWindowAlive }, job),
  });
}

/** A blob that its window wrote and never named: the change failed. */
async function writeUnnamed(store: Store, chatId: string): Promise<string> {
  const before = fs.existsSync(path.join(store.folder, 'blobs')) ? blobsOf(store) : [];
  const failed = store.write((writer) => {
    insertMessage(writer, aMessage(chatId, { text: `never named ${large}` }));
    throw new RangeError('no');
  });
  await assert.rejects(failed, RangeError);
  const [name = '', ...others] = blobsOf(store).filter((other) => !before.includes(other));
  assert.deepEqual(others, []);
  return name;
}

async function checkpoints(store: Store, count: number): Promise<void> {
  for (let round = 0; round < count; round++) {
    await store.checkpoint();
    await store.write((writer) => writer.run('UPDATE sessions SET pinned = pinned'));
  }
}

describe('A blob', function () {
  this.timeout(60_000);

  it('goes once no kept generation names it, also beside the window that made it, and no other does', async () => {
    const store = await openWindow();
    const chat = await addChat(store);
    const save = (text: string): Promise<void> =>
      store.write((writer) =>
        saveDraft(writer, {
          key: chat.id,
          sessionId: chat.id,
          draft: { text, caret: 0, scroll: null, editedAt: 1 },
        }),
      );
    const message = aMessage(chat.id, { text: large });
    await store.write((writer) => insertMessage(writer, message));
    const kept = blobsOf(store);
    // One that is named and dropped within a generation, and one that a snapshot names.
    await save(`first ${large}`);
    await save(`second ${large}`);
    await store.checkpoint();
    await save('small');
    assert.equal(blobsOf(store).length, 3);
    await store.checkpoint();
    assert.equal(blobsOf(store).length, 2, 'the second stands in a snapshot that is kept');
    await store.checkpoint();
    assert.deepEqual(blobsOf(store), kept);
    assert.deepEqual(textsOf(store, chat.id), [large]);
  });

  it('stays for a copy, and for the older snapshot that is opened when the newest is damaged', async () => {
    const store = await openWindow();
    const chat = await addChat(store);
    const message = aMessage(chat.id, { text: large });
    await store.write((writer) => insertMessage(writer, message));
    await checkpoints(store, 1);
    const copy = { id: 'copy', sessionId: chat.id, copyOf: null };
    await store.write((writer) => {
      copyMessage(writer, message.id, copy);
      writer.run('DELETE FROM messages WHERE id = ?', [message.id]);
    });
    await checkpoints(store, 3);
    assert.deepEqual(textsOf(store, chat.id), [large]);
    await store.write((writer) => writer.run('DELETE FROM messages WHERE id = ?', ['copy']));
    await store.checkpoint();
    const { folder } = store;
    await store.close();
    assert.equal(blobsOf(store).length, 1);
    const newest = path.join(folder, `state-${store.generation}`);
    for (const name of fs.readdirSync(folder)) {
      if (name.startsWith(path.basename(newest))) fs.writeFileSync(path.join(folder, name), 'damaged');
    }
    const again = await openWindow({ folder });
    assert.deepEqual(textsOf(again, chat.id), []);
    assert.equal((await verifyFolder(folder, wasmFile)).unnamedBlobs, 1);
  });

  it('that only the older snapshot names stays: it may be all that is left', async () => {
    const store = await openWindow();
    const chat = await addChat(store, [large]);
    await checkpoints(store, 2);
    await store.write((writer) => writer.run('DELETE FROM messages WHERE session_id = ?', [chat.id]));
    await store.checkpoint();
    const { folder, generation } = store;
    await store.close();
    assert.equal(blobsOf(store).length, 1);
    // The newest snapshot and the journals are gone: the older one is opened, in which the message is not deleted yet.
    for (const name of fs.readdirSync(folder)) {
      const isOlder = name.startsWith(`state-${generation - 1}-`);
      if (/^(state-|journal-|mark)/.test(name) && !isOlder) fs.rmSync(path.join(folder, name));
    }
    assert.deepEqual(textsOf(await openWindow({ folder }), chat.id), [large]);
  });

  it('that its window names just before it is found dead stays', async () => {
    const folder = makeFolder();
    const dying = await openStore({ folder, windowId: 'dying' });
    const chat = await addChat(dying, ['small']);
    const blobs = new Blobs({ files: nodeFiles, folder, windowId: 'dying', makeId: ulid });
    const reference = await blobs.writeLater([large, '', '']);
    const nameIt = (): Promise<void> =>
      dying.write((writer) =>
        writer.run(`UPDATE messages SET content = '', blob = ? WHERE session_id = ?`, [reference, chat.id]),
      );
    const engine = await loadEngine(fs.readFileSync(wasmFile));
    let asked = 0;
    const isWindowAlive = (windowId: string): boolean => {
      if (windowId !== 'dying') return true;
      asked += 1;
      if (asked === 1) void nameIt();
      return false;
    };
    const store = await openStore({
      folder,
      runCheckpoint: async (job) =>
        runCheckpoint({ files: nodeFiles, engine, now: Date.now(), isWindowAlive }, job),
    });
    await checkpoints(store, 2);
    assert.equal(asked, 1);
    assert.deepEqual(textsOf(store, chat.id), [large]);
  });

  it('that is named behind the newest snapshot stays, though its window is dead', async () => {
    const folder = makeFolder();
    const engine = await loadEngine(fs.readFileSync(wasmFile));
    const dying = await openStore({ folder, windowId: 'dying' });
    let atCheckpoint: () => Promise<void> = () => Promise.resolve();
    const store = await openStore({
      folder,
      runCheckpoint: async (job) => {
        await atCheckpoint(); // the seal is written: what comes now stands in the next journal only
        const services = { files: nodeFiles, engine, now: Date.now() };
        runCheckpoint({ ...services, isWindowAlive: (windowId) => windowId !== 'dying' }, job);
      },
    });
    const chat = await addChat(store);
    await checkpoints(store, 2);
    atCheckpoint = async () => {
      await dying.write(addText(chat.id, large));
      await dying.close();
    };
    await store.checkpoint();
    assert.deepEqual(textsOf(store, chat.id), [large]);
  });

  it('that was never named stays while its window lives, and goes when that is dead', async () => {
    const folder = makeFolder();
    const first = await openWindow({ folder });
    const second = await openWindow({ folder });
    const chat = await addChat(first);
    const unnamed = await writeUnnamed(first, chat.id);
    await checkpoints(second, 4);
    assert.deepEqual(blobsOf(first), [unnamed]);
    await first.close();
    await checkpoints(second, 1);
    assert.deepEqual(blobsOf(second), []);
  });

  it('of which only half was written goes after an hour; what is no blob is left alone', async () => {
    const store = await openWindow();
    await addChat(store, [large]);
    const folder = path.join(store.folder, 'blobs');
    const [kept = ''] = blobsOf(store);
    const [old, young] = ['01JD0000000000000000000001', '01JD0000000000000000000002'];
    for (const name of [old, young, 'notes.txt']) fs.writeFileSync(path.join(folder, name), 'hold');
    const longAgo = new Date(Date.now() - 2 * 3_600_000);
    fs.utimesSync(path.join(folder, old), longAgo, longAgo);
    await checkpoints(store, 2);
    assert.deepEqual(blobsOf(store), [young, kept, 'notes.txt'].sort());
  });

  it('that the system does not let go of keeps what names it, and goes the next time', async () => {
    let isStuck = true;
    const files = {
      ...nodeFiles,
      remove(file: string) {
        if (isStuck && path.basename(path.dirname(file)) === 'blobs') {
          throw Object.assign(new Error('EBUSY'), { code: 'EBUSY' });
        }
        nodeFiles.remove(file);
      },
    };
    const store = await openWindow({ files });
    const chat = await addChat(store, [large]);
    await store.write((writer) => writer.run('DELETE FROM messages WHERE session_id = ?', [chat.id]));
    await checkpoints(store, 3);
    assert.equal(blobsOf(store).length, 1);
    assert.ok(fs.existsSync(path.join(store.folder, 'journal-1.log')), 'the proof that it was named');
    isStuck = false;
    await store.checkpoint();
    assert.deepEqual(blobsOf(store), []);
    assert.ok(!fs.existsSync(path.join(store.folder, 'journal-1.log')));
  });

  it('makes a generation end when many were written, so that those nobody names do not pile up', async () => {
    const store = await openWindow({ journalLimit: 20_000 });
    const chat = await addChat(store);
    for (let count = 0; count < 60; count++) {
      // Text that does not compress.
      const noise = globalThis.crypto
        .getRandomValues(new Uint16Array(30_000))
        .map((code) => 0x4e00 + (code % 20_000));
      const text = String.fromCharCode(...noise).repeat(4);
      const draft = { text, caret: 0, scroll: null, editedAt: count };
      await store.write((writer) => saveDraft(writer, { key: chat.id, sessionId: chat.id, draft }));
      await store.checkpointSettled();
    }
    assert.ok(store.generation > 2, `generation ${store.generation}`);
    assert.ok(blobsOf(store).length < 60, `${blobsOf(store).length} blobs`);
    await store.write(addText(chat.id, 'still here'));
    assert.deepEqual(textsOf(store, chat.id), ['still here']);
  });
});

describe('Salvage and blobs', function () {
  this.timeout(60_000);

  it('keeps the blob of a message that is lost with the damaged files, and all others where they are', async () => {
    const store = await openWindow();
    const chat = await addChat(store, [`kept ${large}`]);
    const kept = blobsOf(store);
    await store.write(addText(chat.id, `lost ${large}`));
    const [lost = ''] = blobsOf(store).filter((name) => !kept.includes(name));
    await store.write(addText(chat.id, 'after'));
    await store.close();
    const journal = path.join(store.folder, 'journal-1.log');
    const bytes = fs.readFileSync(journal);
    fs.writeFileSync(journal, bytes.fill(0, bytes.indexOf(lost), bytes.indexOf(lost) + 10));
    const again = await openWindow({ folder: store.folder });
    assert.deepEqual(textsOf(again, chat.id), [`kept ${large}`, 'after']);
    assert.deepEqual(blobsOf(again), kept);
    const aside = fs.readdirSync(path.join(store.folder, 'damaged'));
    assert.equal(aside.filter((name) => name.endsWith(lost)).length, 1);
    await checkpoints(again, 3);
    assert.deepEqual(textsOf(again, chat.id), [`kept ${large}`, 'after']);
    assert.deepEqual(fs.readdirSync(path.join(store.folder, 'damaged')), aside);
  });

  it('into another folder takes the blobs along, and tells of those that cannot be read', async () => {
    const store = await openWindow();
    const chat = await addChat(store, [`first ${large}`, `second ${large}`]);
    const [first = '', second = ''] = blobsOf(store);
    await store.close();
    fs.rmSync(path.join(store.folder, 'blobs', first));
    const target = makeFolder();
    const told: string[] = [];
    const engine = await loadEngine(fs.readFileSync(wasmFile));
    const options = { files: nodeFiles, folder: store.folder, engine, windowId: 'salvaging', now: Date.now };
    salvage(options, target, (name) => told.push(name));
    assert.deepEqual(told, [`blobs/${first}`]);
    assert.deepEqual(blobsOf({ folder: target }), [second]);
    assert.deepEqual(textsOf(await openStore({ folder: target }), chat.id), ['', `second ${large}`]);
  });
});
