import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { emptyDraft } from '../../../src/core/session/model.ts';
import { getDraft, saveDraft } from '../../../src/core/store/drafts.ts';
import { StoreError } from '../../../src/core/store/errors.ts';
import { listMemories, saveMemory } from '../../../src/core/store/memories.ts';
import { insertMessage } from '../../../src/core/store/messages.ts';
import { loadEngine } from '../../../src/core/store/openDatabase.ts';
import { getSession, insertSession } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { mergeRecords, type MergeReport } from '../../../src/core/store/transfer/merge.ts';
import { withOtherFolder } from '../../../src/core/store/transfer/otherFolder.ts';
import { readRecords } from '../../../src/core/store/transfer/records.ts';
import { verifyInWorker } from '../../../src/core/store/verify/verifyInWorker.ts';
import { buildNodeProgram } from '../../support/nodeProgram.ts';
import { addChat, addText, makeFolder, openStore, textsOf } from './support/stores.ts';
import { aMessage, aSession, wasmFile } from './support/values.ts';

async function bringIn(store: Store, folder: string, chatId: string | null = null): Promise<MergeReport> {
  const engine = await loadEngine(fs.readFileSync(wasmFile));
  return withOtherFolder(folder, engine, (reader) =>
    mergeRecords(store, () => readRecords(reader, (what) => assert.fail(what), chatId)),
  );
}

function contents(folder: string): Record<string, string> {
  const names = fs.readdirSync(folder).filter((name) => name !== 'windows');
  return Object.fromEntries(names.map((name) => [name, fs.readFileSync(path.join(folder, name), 'latin1')]));
}

describe('Chats of another folder', function () {
  this.timeout(60_000);

  it('are brought in once, from a folder that stays as it is', async () => {
    const other = makeFolder();
    const source = await openStore({ folder: other });
    const theirs = await addChat(source, ['one', 'two']);
    await source.close();
    const before = contents(other);
    const store = await openStore();
    const ours = await addChat(store, ['mine']);
    assert.deepEqual(await bringIn(store, other), {
      chats: 1,
      deletedBefore: 0,
      knownChats: 0,
      messages: 2,
      knownMessages: 0,
      drafts: 0,
    });
    assert.deepEqual(await bringIn(store, other), {
      chats: 0,
      deletedBefore: 0,
      knownChats: 1,
      messages: 0,
      knownMessages: 2,
      drafts: 0,
    });
    assert.deepEqual(textsOf(store, theirs.id), ['one', 'two']);
    assert.deepEqual(textsOf(store, ours.id), ['mine']);
    assert.deepEqual(contents(other), before);
  });

  it('can be brought in one by one: all rows of the chat, its draft and what was kept of it, nothing else', async () => {
    const other = makeFolder();
    const source = await openStore({ folder: other });
    const wanted = await addChat(source, ['one']);
    const unwanted = await addChat(source, ['left behind']);
    const tip = aSession({ parentId: wanted.id, edge: 'compaction' });
    await source.write((writer) => {
      insertSession(writer, tip);
      insertMessage(writer, aMessage(tip.id, { text: 'two' }));
      for (const { id } of [wanted, unwanted]) {
        saveDraft(writer, { key: id, sessionId: id, draft: { ...emptyDraft, text: `typed into ${id}` } });
        const memory = { id: `digest:${id}`, workspaceUri: null, sourceSessionId: id };
        saveMemory(writer, { ...memory, text: 'kept', createdAt: 1, updatedAt: 1 });
      }
    });
    await source.close();
    const store = await openStore();
    assert.deepEqual(await bringIn(store, other, tip.id), {
      chats: 2,
      drafts: 1,
      deletedBefore: 0,
      knownChats: 0,
      messages: 2,
      knownMessages: 0,
    });
    assert.deepEqual([textsOf(store, wanted.id), textsOf(store, tip.id)], [['one'], ['two']]);
    const brought = store.read((reader) => ({
      unwanted: getSession(reader, unwanted.id),
      drafts: [wanted, unwanted].map(({ id }) => getDraft(reader, id)?.draft.text ?? null),
      memories: listMemories(reader, null).map(({ sourceSessionId }) => sourceSessionId),
    }));
    assert.deepEqual(brought, {
      unwanted: null,
      drafts: [`typed into ${wanted.id}`, null],
      memories: [wanted.id],
    });
  });

  it('that two profiles wrote to after a copy are both kept whole', async () => {
    const first = await openStore();
    const chat = await addChat(first, ['common']);
    await first.flush();
    const copied = makeFolder();
    fs.cpSync(first.folder, copied, { recursive: true });
    const second = await openStore({ folder: copied });
    await first.write(addText(chat.id, 'here'));
    await second.write(addText(chat.id, 'there'));
    await bringIn(first, copied);
    assert.deepEqual(textsOf(first, chat.id), ['common', 'here', 'there']);
  });

  it('are brought in whole when a message here has the id of one there', async () => {
    const [here, there] = [await openStore(), await openStore()];
    const chats = [];
    for (const store of [here, there]) {
      const chat = await addChat(store);
      const message = aMessage(chat.id, { id: 'm1', text: store === here ? 'here' : 'there' });
      await store.write((writer) => insertMessage(writer, message));
      chats.push(chat.id);
    }
    for (const messages of [1, 0]) assert.equal((await bringIn(here, there.folder)).messages, messages);
    assert.deepEqual(
      chats.map((id) => textsOf(here, id)),
      [['here'], ['there']],
    );
  });

  it('are refused with the reason when there are none, or a newer version wrote them', async () => {
    const store = await openStore();
    const newer = await openStore();
    await newer.write((writer) => writer.run(`UPDATE meta SET value = '999' WHERE key = 'min_reader'`));
    const cases = [
      ['unavailable', path.join(makeFolder(), 'missing')],
      ['unavailable', makeFolder()],
      ['outdated', newer.folder],
    ] as const;
    for (const [reason, folder] of cases) {
      await assert.rejects(
        bringIn(store, folder),
        (error) => error instanceof StoreError && error.reason === reason,
      );
    }
  });
});

describe('Verifying off the host thread', function () {
  this.timeout(60_000);

  it('gives the report, and the reason when there is none', async () => {
    const built = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-verify-'));
    try {
      const worker = await buildNodeProgram(built, 'verify', 'src/core/store/verify/verifyWorker.ts');
      const store = await openStore();
      await addChat(store, ['one']);
      const { ok, sessions, messages } = await verifyInWorker(worker, store.folder, wasmFile);
      assert.deepEqual([ok, sessions, messages], [true, 1, 1]);
      await assert.rejects(verifyInWorker(worker, path.join(store.folder, 'missing'), wasmFile), /ENOENT/);
    } finally {
      fs.rmSync(built, { recursive: true, force: true });
    }
  });
});
