import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import fc from 'fast-check';
import { ulid } from 'ulid';
import type { Message, ToolCall } from '../../../src/core/session/model.ts';
import { unreadableContents } from '../../../src/core/session/text.ts';
import { Blobs } from '../../../src/core/store/blobs.ts';
import { splitLines } from '../../../src/core/store/chain.ts';
import { getDraft, saveDraft } from '../../../src/core/store/drafts.ts';
import { StoreError, StoreValueError } from '../../../src/core/store/errors.ts';
import { nodeFiles, type FileLayer } from '../../../src/core/store/fileLayer.ts';
import {
  appendMessageText,
  copyMessage,
  finishMessage,
  getMessage,
  insertMessage,
  listMessages,
  setMessageContents,
  setMessageToolCalls,
} from '../../../src/core/store/messages.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { exportChats } from '../../../src/core/store/transfer/exportChats.ts';
import { mergeRecords } from '../../../src/core/store/transfer/merge.ts';
import { readRecords } from '../../../src/core/store/transfer/records.ts';
import { displayMessages } from '../../../src/core/store/transcript.ts';
import { verifyFolder } from '../../../src/core/store/verify/verifyFolder.ts';
import { FaultyFiles } from './faults/faultyFiles.ts';
import { addChat, addText, filesWithoutSync, openStore, textsOf } from './support/stores.ts';
import { aMessage, wasmFile } from './support/values.ts';

const large = 'Räder und 車輪. '.repeat(20_000);
/** The most a frame may take, in bytes. */
const frameLimit = 320 * 1024;

function blobsOf({ folder }: Pick<Store, 'folder'>): string[] {
  const blobs = path.join(folder, 'blobs');
  return fs.existsSync(blobs) ? fs.readdirSync(blobs).sort() : [];
}

function longestFrame({ folder }: Store): number {
  const journals = fs.readdirSync(folder).filter((name) => name.startsWith('journal-'));
  const frames = journals.flatMap((name) => [...splitLines(fs.readFileSync(path.join(folder, name)))]);
  return Math.max(...frames.map(({ frame }) => frame?.json.length ?? 0));
}

function rowOf(store: Store, id: string) {
  return store.read((reader) =>
    reader.get('SELECT blob, content, reasoning FROM messages WHERE id = ?', [id]),
  );
}

/** A chat with a large message between two small ones, closed, and the file that holds it. */
async function makeLarge(): Promise<{ folder: string; chatId: string; messageId: string; file: string }> {
  const store = await openStore();
  const chat = await addChat(store, ['before']);
  const message = aMessage(chat.id, { text: large });
  await store.write((writer) => insertMessage(writer, message));
  await store.write(addText(chat.id, 'after'));
  await store.close();
  const [name = ''] = blobsOf(store);
  const file = path.join(store.folder, 'blobs', name);
  return { folder: store.folder, chatId: chat.id, messageId: message.id, file };
}

const damages: readonly (readonly [string, (file: string) => void])[] = [
  ['missing', (file) => fs.rmSync(file)],
  ['damaged', (file) => fs.writeFileSync(file, fs.readFileSync(file).fill(0, 40, 60))],
  ['damaged', (file) => fs.truncateSync(file, 100)],
  ['damaged', (file) => fs.writeFileSync(file, '')],
];

describe('Large contents', function () {
  this.timeout(60_000);

  it('live in a file of their own, durable before the frame that names it, and come back in every window', async () => {
    const synced: string[] = [];
    const open = new Map<number, string>();
    const files: FileLayer = {
      ...nodeFiles,
      open(file, mode) {
        const descriptor = nodeFiles.open(file, mode);
        open.set(descriptor, path.basename(path.dirname(file)));
        return descriptor;
      },
      syncNow(descriptor) {
        synced.push(`file in ${open.get(descriptor)}`);
        nodeFiles.syncNow(descriptor);
      },
      syncFolderNow(folder) {
        synced.push(path.basename(folder));
        nodeFiles.syncFolderNow(folder);
      },
      append(descriptor, bytes) {
        if (open.get(descriptor) !== 'blobs') synced.push('frame');
        return nodeFiles.append(descriptor, bytes);
      },
    };
    const store = await openStore({ files });
    const chat = await addChat(store);
    const message = aMessage(chat.id, { text: large });
    const journal = path.join(store.folder, 'journal-1.log');
    const { size } = fs.statSync(journal);
    synced.length = 0;
    await store.write((writer) => insertMessage(writer, message));
    assert.deepEqual(synced.slice(0, 4), [path.basename(store.folder), 'file in blobs', 'blobs', 'frame']);
    const [name = ''] = blobsOf(store);
    assert.equal(fs.statSync(path.join(store.folder, 'blobs', name)).mode & 0o777, 0o600);
    assert.equal(fs.statSync(path.join(store.folder, 'blobs')).mode & 0o777, 0o700);
    const row = rowOf(store, message.id);
    assert.equal(row?.['content'], '');
    assert.ok(String(row['blob']).startsWith(name));
    assert.ok(fs.statSync(journal).size - size < 2000);
    assert.deepEqual(textsOf(store, chat.id), [large]);
    const other = await openStore({ folder: store.folder });
    assert.deepEqual(textsOf(other, chat.id), [large]);
  });

  it('may be anything, grow and be replaced in any order, and no frame is larger than its limit', async () => {
    const text = fc.tuple(
      fc.constantFrom('a', '漢', '\u0000', '"\n', '😀'),
      fc.constantFrom(0, 1, 3000, 90_000),
    );
    const change = fc.oneof(
      fc.record({ kind: fc.constant('append' as const), text, reasoning: text }),
      fc.record({ kind: fc.constant('replace' as const), text, reasoning: text }),
      fc.record({ kind: fc.constant('calls' as const), text }),
    );
    const say = ([character, count]: readonly [string, number]): string => character.repeat(count);
    const callOf = (piece: readonly [string, number]): ToolCall => ({
      id: 'c',
      name: 'tool',
      arguments: say(piece),
    });
    const store = await openStore({ files: filesWithoutSync });
    const chat = await addChat(store);
    await fc.assert(
      fc.asyncProperty(text, fc.array(change, { maxLength: 5 }), async (first, changes) => {
        let expected: Message = aMessage(chat.id, {
          role: 'assistant',
          status: 'streaming',
          text: say(first),
        });
        const { id } = expected;
        await store.write((writer) => insertMessage(writer, expected));
        for (const step of changes) {
          if (step.kind === 'calls') {
            expected = { ...expected, toolCalls: [callOf(step.text)] };
            await store.write((writer) => setMessageToolCalls(writer, id, expected.toolCalls));
            continue;
          }
          const [said, thought] = [say(step.text), say(step.reasoning)];
          const isMore = step.kind === 'append';
          expected = {
            ...expected,
            text: isMore ? expected.text + said : said,
            reasoning: isMore ? expected.reasoning + thought : thought,
          };
          await store.write((writer) => {
            if (isMore) appendMessageText(writer, id, said, thought);
            else setMessageContents(writer, id, expected);
          });
        }
        const end = { status: 'complete', problem: null, usage: null, finishedAt: 9 } as const;
        await store.write((writer) => finishMessage(writer, id, end));
        const stored = store.read((reader) => getMessage(reader, id));
        assert.deepEqual({ ...stored, seq: 0 }, { ...expected, ...end, seq: 0 });
      }),
      { numRuns: 40 },
    );
    assert.ok(longestFrame(store) <= frameLimit);
    assert.ok(blobsOf(store).length > 0);
    const other = await openStore({ folder: store.folder, files: filesWithoutSync });
    assert.deepEqual(textsOf(other, chat.id), textsOf(store, chat.id));
  });

  it('find no room in a frame with many others, whatever their size: one transaction takes all', async () => {
    const store = await openStore({ files: filesWithoutSync });
    const chat = await addChat(store);
    const messages = Array.from({ length: 120 }, (_, index) =>
      aMessage(chat.id, { text: `${index} ${'x'.repeat(5000)}` }),
    );
    await store.write((writer) => messages.forEach((message) => insertMessage(writer, message)));
    assert.ok(longestFrame(store) <= frameLimit);
    assert.deepEqual(
      textsOf(store, chat.id),
      messages.map(({ text }) => text),
    );
  });

  it('are written once by a change that loses its race', async () => {
    const second = await openStore();
    const { folder } = second;
    const chat = await addChat(second);
    let runs = 0;
    const files: FileLayer = {
      ...nodeFiles,
      append(descriptor, bytes) {
        if (runs === 1 && bytes.length < 2000) {
          runs += 1;
          void second.write(addText(chat.id, 'theirs'));
        }
        return nodeFiles.append(descriptor, bytes);
      },
    };
    const first = await openStore({ folder, files });
    await first.write((writer) => {
      runs += 1;
      insertMessage(writer, aMessage(chat.id, { text: large }));
    });
    assert.equal(runs, 3, 'the race was lost once');
    assert.deepEqual(textsOf(first, chat.id), ['theirs', large]);
    assert.equal(blobsOf(first).length, 1);
  });

  it('that do not fit on the disk are refused like any other change, and leave no half of a file', async () => {
    const faulty = new FaultyFiles();
    const store = await openStore({ files: faulty.layer });
    const chat = await addChat(store, ['before']);
    faulty.cutNextAppend(50);
    const refused = store.write((writer) => insertMessage(writer, aMessage(chat.id, { text: large })));
    await assert.rejects(refused, (error) => error instanceof StoreError && error.reason === 'full');
    faulty.heal();
    assert.deepEqual(blobsOf(store), []);
    assert.deepEqual(textsOf(store, chat.id), ['before']);
    await store.write(addText(chat.id, large));
    assert.deepEqual(textsOf(store, chat.id), ['before', large]);
  });

  it('are written anew for another generation: what a lost frame named may go with its journal', async () => {
    const { folder, windowId } = await openStore();
    const blobs = new Blobs({ files: nodeFiles, folder, windowId, makeId: ulid });
    const keeper = blobs.keeper();
    const [first, again, later] = [1, 1, 2].map((generation) => keeper.keep([large], generation));
    assert.equal(again, first);
    assert.notEqual(later, first);
    assert.deepEqual(blobs.read(later ?? ''), [large]);
  });

  it('that are not here are not stored: a message is never replaced by an empty one', async () => {
    const { folder, chatId } = await makeLarge();
    const store = await openStore({ folder });
    const left = store.read((reader) => listMessages(reader, chatId, { contents: 'leave' }))[1];
    assert.ok(left?.contents === 'left');
    const copied = store.write((writer) => insertMessage(writer, { ...left, id: ulid() }));
    await assert.rejects(copied, (error) => error instanceof StoreValueError);
    assert.deepEqual(textsOf(store, chatId), ['before', large, 'after']);
  });

  it('of a draft are kept as well', async () => {
    const store = await openStore();
    const chat = await addChat(store);
    const draft = { text: large, caret: 3, scroll: null, editedAt: 7 };
    await store.write((writer) => saveDraft(writer, { key: chat.id, sessionId: chat.id, draft }));
    assert.deepEqual(store.read((reader) => getDraft(reader, chat.id))?.draft, draft);
    for (const name of blobsOf(store)) fs.rmSync(path.join(store.folder, 'blobs', name));
    assert.equal(store.read((reader) => getDraft(reader, chat.id))?.draft.text, unreadableContents);
  });

  it('are named by a copy, not written again', async () => {
    const { folder, chatId, messageId, file } = await makeLarge();
    const store = await openStore({ folder });
    const copy = { id: ulid(), sessionId: chatId, copyOf: messageId };
    await store.write((writer) => copyMessage(writer, messageId, copy));
    assert.deepEqual(blobsOf(store), [path.basename(file)]);
    assert.deepEqual(textsOf(store, chatId), ['before', large, 'after', large]);
    assert.deepEqual(rowOf(store, copy.id), rowOf(store, messageId));
  });
});

describe('A blob that cannot be read', function () {
  this.timeout(60_000);

  for (const [word, damage] of damages) {
    it(`(${word}) makes one message unreadable, visibly, and nothing else; a backup brings it back`, async () => {
      const { folder, chatId, messageId, file } = await makeLarge();
      const whole = await openStore({ folder });
      const records = whole.read((reader) => [...readRecords(reader, assert.fail)]);
      damage(file);
      const store = await openStore({ folder });
      const shown = store.read((reader) => displayMessages(reader, chatId)).messages;
      assert.deepEqual(
        shown.map(({ text, contents }) => [text, contents]),
        [
          ['before', 'here'],
          ['', 'unreadable'],
          ['after', 'here'],
        ],
      );
      const told: string[] = [];
      const request = {
        sessionId: chatId,
        format: 'json',
        onUnreadable: (what: string) => told.push(what),
      } as const;
      const exported: unknown = JSON.parse([...exportChats(store, request)].join(''));
      assert.match(
        told.join(),
        new RegExp(`^The message ${messageId} cannot be read: its file blobs/\\w+ is ${word}$`),
      );
      assert.ok(JSON.stringify(exported).includes(JSON.stringify({ id: messageId, unreadable: true })));
      const backed = store.read((reader) => [...readRecords(reader, (what) => told.push(what))]);
      assert.equal(backed.length, records.length - 1);
      assert.equal(told.length, 2);
      const report = await verifyFolder(folder, wasmFile);
      assert.equal(report.ok, false);
      assert.match(
        report.faults.join(),
        new RegExp(`^The message ${messageId} cannot be read: .* is ${word}\\.$`),
      );
      const merged = await mergeRecords(store, () => records);
      assert.deepEqual([merged.messages, merged.knownMessages], [1, 2]);
      assert.deepEqual(textsOf(store, chatId), ['before', large, 'after']);
      assert.equal((await verifyFolder(folder, wasmFile)).ok, true);
    });
  }

  it('does not let a part of the message stand for all of it', async () => {
    const store = await openStore();
    const chat = await addChat(store);
    const message = aMessage(chat.id, { role: 'assistant', status: 'streaming', text: large });
    await store.write((writer) => insertMessage(writer, message));
    for (const name of blobsOf(store)) fs.rmSync(path.join(store.folder, 'blobs', name));
    const more = store.write((writer) => appendMessageText(writer, message.id, large));
    await assert.rejects(more, (error) => error instanceof StoreError && error.reason === 'unreadable');
    await store.write((writer) => appendMessageText(writer, message.id, 'more'));
    const [stored] = store.read((reader) => listMessages(reader, chat.id));
    assert.deepEqual([stored?.text, stored?.contents], ['more', 'unreadable']);
    const whole = { text: `${large}more`, reasoning: '', toolCalls: [] };
    await store.write((writer) => setMessageContents(writer, message.id, whole));
    assert.deepEqual(textsOf(store, chat.id), [whole.text]);
  });
});
