import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import * as zlib from 'node:zlib';
import { ulid } from 'ulid';
import { checkRows } from '../../../src/core/store/verify/checkRows.ts';
import { deleteLineage, isDeleted } from '../../../src/core/store/deletion.ts';
import { saveDraft } from '../../../src/core/store/drafts.ts';
import { acquireLease } from '../../../src/core/store/leases.ts';
import { listMemories, saveMemory } from '../../../src/core/store/memories.ts';
import { appendMessageText, insertMessage } from '../../../src/core/store/messages.ts';
import { listRoutes, makeRoute, saveRoute } from '../../../src/core/store/routes.ts';
import { getSession, insertSession, listSessions, renameSession } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { buildCheckpointWorker } from '../../support/checkpointWorker.ts';
import { addChat, addText, filesWithoutSync, makeFolder, openStore, textsOf } from './support/stores.ts';
import { aMessage, aSession } from './support/values.ts';

const secret = 'Xylophone-4711';
const isOtherAlive = (): boolean => false;

/** Every file of the folder that holds the text, also as UTF-16 or compressed. */
function filesWith(folder: string, text: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => fs.statSync(path.join(folder, name)).isFile())
    .filter((name) => {
      const file = fs.readFileSync(path.join(folder, name));
      const isBlob = path.dirname(name) === 'blobs';
      const bytes = isBlob ? zlib.brotliDecompressSync(file.subarray(file.indexOf('\n') + 1)) : file;
      return bytes.includes(text) || bytes.includes(Buffer.from(text, 'utf16le'));
    });
}

/** A chat of two rows with everything a chat can have, and a branch of it; the secret is in all of it but the branch. */
async function addSecretChat(store: Store): Promise<void> {
  await store.write((writer) => {
    insertSession(writer, aSession({ id: 'root', workspaceUri: 'w' }));
    renameSession(writer, 'root', `${secret} title`);
    insertMessage(writer, aMessage('root', { id: 'question', text: `${secret} question` }));
    insertMessage(
      writer,
      aMessage('root', { id: 'answer', role: 'assistant', status: 'streaming', text: secret }),
    );
  });
  for (let count = 0; count < 50; count++) {
    await store.write((writer) =>
      appendMessageText(writer, 'answer', `${secret} piece ${count} `.repeat(40)),
    );
  }
  await store.write((writer) => {
    insertSession(writer, aSession({ id: 'tip', parentId: 'root', edge: 'compaction', workspaceUri: 'w' }));
    insertMessage(writer, aMessage('tip', { role: 'summary', text: secret.repeat(5000) }));
    insertMessage(writer, aMessage('tip', { text: `${secret} `.repeat(30_000) }));
    insertMessage(writer, aMessage('tip', { id: 'copy', copyOf: 'question', text: `${secret} question` }));
    saveDraft(writer, {
      key: 'tip',
      sessionId: 'tip',
      draft: { text: secret, caret: 0, scroll: null, editedAt: 1 },
    });
    saveRoute(
      writer,
      makeRoute({ key: 'panel:p', sessionId: 'tip', origin: 'panel:p', title: secret, updatedAt: 1 }),
    );
    saveRoute(writer, makeRoute({ key: 'workspace:w', sessionId: 'root', origin: 'w', updatedAt: 1 }));
    saveMemory(writer, {
      id: 'digest:root',
      workspaceUri: 'w',
      text: secret,
      sourceSessionId: 'tip',
      createdAt: 1,
      updatedAt: 1,
    });
    insertSession(writer, aSession({ id: 'branch', parentId: 'root', edge: 'branch' }));
    insertMessage(writer, aMessage('branch', { copyOf: 'question', text: 'kept by the branch' }));
  });
}

describe('Delete Permanently', function () {
  this.timeout(60_000);
  let worker: string;

  before(async () => {
    worker = await buildCheckpointWorker(fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-worker-')));
  });
  after(() => fs.rmSync(path.dirname(worker), { recursive: true, force: true }));

  it('removes every row of the chat, and nothing of others points to what is gone', async () => {
    const store = await openStore();
    await addSecretChat(store);
    const other = await addChat(store, ['stays']);
    await store.write((writer) => deleteLineage(writer, { sessionId: 'root', isOtherAlive }));
    store.read((reader) => {
      assert.deepEqual(
        listSessions(reader, { limit: 10 })
          .map(({ id }) => id)
          .sort(),
        [other.id, 'branch'].sort(),
      );
      assert.deepEqual(listRoutes(reader), []);
      assert.deepEqual(listMemories(reader, 'w'), []);
      assert.deepEqual(reader.all('SELECT key FROM drafts'), []);
      assert.deepEqual(checkRows(reader).faults, []);
      assert.equal(getSession(reader, 'branch')?.edge, null);
      assert.deepEqual(
        ['root', 'tip', 'branch'].map((id) => isDeleted(reader, id)),
        [true, true, false],
      );
    });
    assert.deepEqual(textsOf(store, 'branch'), ['kept by the branch']);
    const { seq } = store;
    await store.write((writer) => deleteLineage(writer, { sessionId: 'root', isOtherAlive }));
    assert.equal(store.seq, seq, 'a second time there is nothing to do');
  });

  it('is one change that fits its frame, however often the chat was compacted', async () => {
    const store = await openStore({ files: filesWithoutSync });
    const rows = Array.from({ length: 3000 }, () => ulid());
    for (let from = 0; from < rows.length; from += 500) {
      await store.write((writer) => {
        for (const [index, id] of rows.slice(from, from + 500).entries()) {
          const parentId = rows[from + index - 1] ?? null;
          const edge = parentId === null ? null : 'compaction';
          insertSession(writer, aSession({ id, parentId, edge }));
        }
      });
    }
    const kept = await addChat(store, ['stays']);
    const tip = rows.at(-1) ?? '';
    await store.write((writer) => deleteLineage(writer, { sessionId: tip, isOtherAlive }));
    store.read((reader) => {
      assert.deepEqual(
        reader.all('SELECT id FROM sessions').map(({ id }) => id),
        [kept.id],
      );
      assert.ok(rows.every((id) => isDeleted(reader, id)));
    });
  });

  it('is refused while another live window may write the chat, not when that window is dead', async () => {
    const store = await openStore();
    await addSecretChat(store);
    await store.write((writer) =>
      acquireLease(writer, {
        sessionId: 'tip',
        runtimeId: 'r',
        windowId: 'other',
        now: 1,
        isWindowAlive: () => true,
      }),
    );
    const remove = (isAlive: boolean): Promise<void> =>
      store.write((writer) => deleteLineage(writer, { sessionId: 'root', isOtherAlive: () => isAlive }));
    await assert.rejects(remove(true), { reason: 'session_not_owned' });
    assert.ok(textsOf(store, 'root').length > 0);
    await remove(false);
    assert.deepEqual(textsOf(store, 'root'), []);
  });

  it('leaves no file that holds a word of it, with windows open beside it', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder, checkpointWorkerFile: worker });
    const other = await openStore({ folder });
    const kept = await addChat(store, ['stays']);
    await store.checkpoint();
    await addSecretChat(store);
    await store.checkpoint();
    await store.write(addText('tip', `${secret} after the snapshot`));
    assert.ok(filesWith(folder, secret).length >= 3);
    assert.ok(filesWith(folder, secret).some((name) => path.dirname(name) === 'blobs'));
    await store.write((writer) => deleteLineage(writer, { sessionId: 'root', isOtherAlive }));
    assert.deepEqual(await store.purge(), []);
    assert.deepEqual(filesWith(folder, secret), []);
    assert.deepEqual(textsOf(other, 'root'), []);
    assert.deepEqual(textsOf(other, kept.id), ['stays']);
    assert.deepEqual(textsOf(await openStore({ folder }), kept.id), ['stays']);
    const { generation } = store;
    assert.deepEqual(await store.purge(), []);
    assert.equal(store.generation, generation, 'nothing was left to do');
  });

  it('leaves nothing either when a window saves its memory later, whose pages held the text', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder, checkpointWorkerFile: worker });
    await addSecretChat(store);
    await store.write((writer) => deleteLineage(writer, { sessionId: 'root', isOtherAlive }));
    await store.purge();
    fs.rmSync(folder, { recursive: true });
    await store.write(addText('branch', 'saved again'));
    assert.ok(fs.readdirSync(folder).some((name) => name.startsWith('state-')));
    assert.deepEqual(filesWith(folder, secret), []);
  });

  it('is finished by the next window when the one that deleted died before the files were gone', async () => {
    const folder = makeFolder();
    const dies = await openStore({ folder });
    await addSecretChat(dies);
    await dies.write((writer) => deleteLineage(writer, { sessionId: 'root', isOtherAlive }));
    await dies.close();
    assert.notDeepEqual(filesWith(folder, secret), []);
    const next = await openStore({ folder, checkpointWorkerFile: worker });
    assert.deepEqual(await next.purge(), []);
    assert.deepEqual(filesWith(folder, secret), []);
  });

  it('tells of damaged files kept aside, which it does not touch', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder, checkpointWorkerFile: worker });
    await addSecretChat(store);
    fs.mkdirSync(path.join(folder, 'damaged'));
    fs.copyFileSync(path.join(folder, 'journal-1.log'), path.join(folder, 'damaged', 'journal-1.log'));
    await store.write((writer) => deleteLineage(writer, { sessionId: 'root', isOtherAlive }));
    assert.deepEqual(await store.purge(), ['damaged/journal-1.log']);
    assert.deepEqual(filesWith(folder, secret), [path.join('damaged', 'journal-1.log')]);
    assert.deepEqual(fs.readdirSync(path.join(folder, 'blobs')), []);
  });
});
