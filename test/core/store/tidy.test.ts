import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { runCheckpoint } from '../../../src/core/store/checkpoint.ts';
import { nodeFiles, type FileLayer } from '../../../src/core/store/fileLayer.ts';
import {
  appendMessageText,
  finishMessage,
  insertMessage,
  listMessages,
  setMessageContents,
} from '../../../src/core/store/messages.ts';
import { loadEngine } from '../../../src/core/store/openDatabase.ts';
import { listChats } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { verifyFolder } from '../../../src/core/store/verify/verifyFolder.ts';
import { until } from '../../support/vscode/until.ts';
import { addChat, addText, filesWithoutSync, makeFolder, openStore, textsOf } from './support/stores.ts';
import { aMessage, wasmFile } from './support/values.ts';

function blobsOf({ folder }: Pick<Store, 'folder'>): string[] {
  const blobs = path.join(folder, 'blobs');
  return fs.existsSync(blobs) ? fs.readdirSync(blobs) : [];
}

/** UTF-16 units of contents in the rows of the chat. */
function inlineLength(store: Store): number {
  const row = store.read((reader) =>
    reader.get('SELECT coalesce(sum(length(content) + length(reasoning)), 0) AS units FROM messages'),
  );
  return Number(row?.['units']);
}

async function snapshotBytes(store: Store): Promise<number> {
  await store.checkpoint();
  const name = fs.readdirSync(store.folder).find((file) => file.startsWith(`state-${store.generation}-`));
  return fs.statSync(path.join(store.folder, name ?? '')).size;
}

async function openCheckpointing(files: FileLayer): Promise<Store> {
  const engine = await loadEngine(fs.readFileSync(wasmFile));
  return openStore({
    files,
    journalLimit: Number.POSITIVE_INFINITY,
    runCheckpoint: async (job, isWindowAlive) =>
      runCheckpoint({ files, engine, now: Date.now(), isWindowAlive }, job),
  });
}

describe('The tidy', function () {
  this.timeout(60_000);

  it('moves what is not small of finished messages into blobs; every window reads what it read before', async () => {
    const store = await openStore();
    const other = await openStore({ folder: store.folder });
    const chat = await addChat(store, ['small']);
    const calls = [{ id: 'c', name: 'tool', arguments: 'a'.repeat(6000) }];
    const messages = [
      aMessage(chat.id, { text: '漢'.repeat(2000), reasoning: 'why', toolCalls: calls }),
      aMessage(chat.id, { text: '', reasoning: 'r'.repeat(5000) }),
      aMessage(chat.id, { text: '', toolCalls: calls }),
      aMessage(chat.id, { status: 'streaming', role: 'assistant', text: 's'.repeat(9000) }),
      ...Array.from({ length: 150 }, (_, index) => aMessage(chat.id, { text: `${index} `.repeat(3000) })),
    ];
    for (const message of messages) await store.write((writer) => insertMessage(writer, message));
    const read = (from: Store) => from.read((reader) => listMessages(reader, chat.id));
    const before = read(store);
    assert.equal(await store.tidy(), messages.length - 1);
    assert.equal(await store.tidy(), 0, 'nothing is left to do');
    assert.deepEqual(read(store), before);
    assert.deepEqual(read(other), before);
    assert.equal(inlineLength(store), 'small'.length + 9000);
    assert.equal(blobsOf(store).length, messages.length - 1);
    assert.deepEqual(read(await openStore({ folder: store.folder })), before);
    const { ok, blobs, unnamedBlobs } = await verifyFolder(store.folder, wasmFile);
    assert.deepEqual({ ok, blobs, unnamedBlobs }, { ok: true, blobs: messages.length - 1, unnamedBlobs: 0 });
  });

  it('leaves a message alone that is changed meanwhile, and begins anew when a generation ended', async () => {
    let onSync: () => Promise<void> = () => Promise.resolve();
    const files: FileLayer = {
      ...nodeFiles,
      async syncFolder(folder) {
        await nodeFiles.syncFolder(folder);
        if (path.basename(folder) === 'blobs') await onSync();
      },
    };
    const store = await openCheckpointing(files);
    const chat = await addChat(store);
    const [first, second] = ['first', 'second'].map((text) => aMessage(chat.id, { text: text.repeat(2000) }));
    assert.ok(first && second);
    for (const message of [first, second]) await store.write((writer) => insertMessage(writer, message));
    const changed = { text: 'changed '.repeat(2000), reasoning: '', toolCalls: [] };
    onSync = async () => {
      onSync = () => Promise.resolve();
      await store.write((writer) => setMessageContents(writer, first.id, changed));
    };
    assert.equal(await store.tidy(), 2, 'the changed one in the next batch');
    assert.deepEqual(textsOf(store, chat.id), [changed.text, second.text]);
    await store.write(addText(chat.id, 'third'.repeat(2000)));
    onSync = async () => {
      onSync = () => Promise.resolve();
      await store.checkpoint();
    };
    assert.equal(await store.tidy(), 1);
    assert.deepEqual(textsOf(store, chat.id), [changed.text, second.text, 'third'.repeat(2000)]);
    assert.equal(
      (await verifyFolder(store.folder, wasmFile)).unnamedBlobs,
      2,
      'what the two begun in vain left',
    );
  });

  it('syncs files and names before the frame that names them', async () => {
    const done: string[] = [];
    const blobFiles = new Set<number>();
    const files: FileLayer = {
      ...nodeFiles,
      open(file, mode) {
        const descriptor = nodeFiles.open(file, mode);
        if (path.basename(path.dirname(file)) === 'blobs') blobFiles.add(descriptor);
        else blobFiles.delete(descriptor);
        return descriptor;
      },
      append(descriptor, bytes) {
        done.push(blobFiles.has(descriptor) ? 'written' : 'named');
        return nodeFiles.append(descriptor, bytes);
      },
      async sync(descriptor) {
        await nodeFiles.sync(descriptor);
        if (blobFiles.has(descriptor)) done.push('synced');
      },
      async syncFolder(folder) {
        await nodeFiles.syncFolder(folder);
        if (path.basename(folder) === 'blobs') done.push('names synced');
      },
    };
    const store = await openStore({ files });
    await addChat(store, ['first '.repeat(2000), 'second '.repeat(2000)]);
    done.length = 0;
    assert.equal(await store.tidy(), 2);
    assert.deepEqual(done, ['written', 'synced', 'written', 'synced', 'names synced', 'named']);
  });

  it('leaves a message as it is whose first part cannot be read, and moves the others', async () => {
    const store = await openStore();
    const chat = await addChat(store);
    const message = aMessage(chat.id, {
      role: 'assistant',
      status: 'streaming',
      text: 'first '.repeat(60_000),
    });
    await store.write((writer) => insertMessage(writer, message));
    await store.write((writer) => appendMessageText(writer, message.id, 'second '.repeat(2000)));
    const end = { status: 'complete', problem: null, usage: null, finishedAt: 9 } as const;
    await store.write((writer) => finishMessage(writer, message.id, end));
    await store.write(addText(chat.id, 'third '.repeat(2000)));
    const [name = ''] = blobsOf(store);
    const file = path.join(store.folder, 'blobs', name);
    fs.renameSync(file, `${file}.away`);
    assert.equal(await store.tidy(), 1);
    const contents = store.read((reader) => listMessages(reader, chat.id)).map((row) => row.contents);
    assert.deepEqual(contents, ['unreadable', 'here']);
    fs.renameSync(`${file}.away`, file);
    assert.deepEqual(textsOf(store, chat.id), [
      `${message.text}${'second '.repeat(2000)}`,
      'third '.repeat(2000),
    ]);
  });

  it('happens by itself at idle moments, in one of several windows, and ends with the window', async () => {
    const folder = makeFolder();
    const options = { folder, followInterval: 5, tidyInterval: 20, clock: () => performance.now() * 100 };
    const second = await openStore({ ...options, windowId: 'b' });
    const first = await openStore({ ...options, windowId: 'a' });
    const chat = await addChat(second, ['long ago '.repeat(2000)]);
    const young = aMessage(chat.id, { createdAt: Date.now(), text: 'just now '.repeat(2000) });
    await second.write((writer) => insertMessage(writer, young));
    const isTidied = (): boolean => blobsOf(second).length > 0 && inlineLength(second) <= young.text.length;
    await until(isTidied, { what: 'the tidy' });
    assert.deepEqual(textsOf(second, chat.id), ['long ago '.repeat(2000), young.text]);
    const [name = ''] = blobsOf(second);
    assert.match(fs.readFileSync(path.join(folder, 'blobs', name), 'latin1'), /^holdfast-blob 1 a\n/);
    await first.close();
    await second.close();
    await assert.rejects(async () => first.tidy(), { reason: 'closed' });
  });
});

describe('A store with a lot of text in few messages', function () {
  this.timeout(60_000);

  it('costs little more than its text, in whatever pieces that came: nothing is kept per piece (B51)', async () => {
    const store = await openCheckpointing(filesWithoutSync);
    const chat = await addChat(store);
    const message = aMessage(chat.id, { role: 'assistant', status: 'streaming', text: '' });
    await store.write((writer) => insertMessage(writer, message));
    const pieces = Array.from({ length: 1000 }, (_, index) => `${index} `.repeat(100));
    for (const piece of pieces) await store.write((writer) => appendMessageText(writer, message.id, piece));
    const end = { status: 'complete', problem: null, usage: null, finishedAt: 9 } as const;
    await store.write((writer) => finishMessage(writer, message.id, end));
    const text = pieces.join('');
    const journal = fs.statSync(path.join(store.folder, 'journal-1.log')).size;
    assert.ok(journal < 2 * text.length, `${journal} bytes of journal for ${text.length} of text`);
    assert.equal(await store.tidy(), 1);
    assert.ok((await snapshotBytes(store)) < 1_000_000);
    await store.checkpoint();
    const files = fs.readdirSync(store.folder, { recursive: true, encoding: 'utf8' });
    assert.deepEqual(
      files.filter((name) => name.startsWith('journal-1.')),
      [],
    );
    assert.equal(blobsOf(store).length, 1);
    assert.deepEqual(textsOf(store, chat.id), [text]);
  });

  it('has a small list and a small snapshot, and is opened without a look at them: fifty pasted texts of 5 MB (B53, B56)', async () => {
    const store = await openCheckpointing(filesWithoutSync);
    const chat = await addChat(store);
    // As base64 images are: text that hardly compresses.
    const noise = Buffer.from(globalThis.crypto.getRandomValues(new Uint8Array(60_000))).toString('base64');
    const image = noise.repeat(Math.ceil(5_000_000 / noise.length)).slice(0, 5_000_000);
    for (let count = 0; count < 50; count++) await store.write(addText(chat.id, `${count} ${image}`));
    assert.equal(inlineLength(store), 0);
    assert.ok((await snapshotBytes(store)) < 1_000_000);
    const [listed] = store.read((reader) => listChats(reader, { archived: false, limit: 10 }));
    assert.ok(JSON.stringify(listed).length < 2000);
    const last = store.read((reader) => listMessages(reader, chat.id, { limit: 1 }))[0];
    assert.equal(last?.text, `49 ${image}`);
    await store.close();
    const read: string[] = [];
    const files: FileLayer = {
      ...filesWithoutSync,
      open: (file, mode) => (read.push(file), filesWithoutSync.open(file, mode)),
      readFile: (file) => (read.push(file), filesWithoutSync.readFile(file)),
    };
    const again = await openStore({ folder: store.folder, files });
    assert.equal(again.read((reader) => listChats(reader, { archived: false, limit: 10 })).length, 1);
    assert.ok(read.some((file) => path.basename(file).startsWith('state-')));
    assert.deepEqual(
      read.filter((file) => path.basename(path.dirname(file)) === 'blobs'),
      [],
    );
  });

  it('keeps 120 MiB that tools gave in one chat, and opens it (B52; at full size: npm run bench -- open-chat-b52)', async () => {
    const store = await openCheckpointing(filesWithoutSync);
    const chat = await addChat(store);
    const output = 'a line of what the tool printed\n'.repeat((10 << 20) / 32);
    const rows = Array.from({ length: 12 }, (_, index) =>
      aMessage(chat.id, {
        role: 'tool',
        toolCallId: `${index}`,
        toolName: 'run',
        text: `${index} ${output}`,
      }),
    );
    for (const row of rows) await store.write((writer) => insertMessage(writer, row));
    assert.ok((await snapshotBytes(store)) < 1_000_000);
    await store.close();
    const again = await openStore({ folder: store.folder });
    const stored = again.read((reader) => listMessages(reader, chat.id, { contents: 'leave' }));
    assert.deepEqual(
      stored.map(({ contents }) => contents),
      rows.map(() => 'left'),
    );
    const [last] = again.read((reader) => listMessages(reader, chat.id, { limit: 1 }));
    assert.equal(last?.text, rows.at(-1)?.text);
  });
});
