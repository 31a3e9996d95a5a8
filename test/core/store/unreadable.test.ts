/** Rows that cannot be read: they hide nobody else, and nothing is shown as empty in their place. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { ulid } from 'ulid';
import { loadChat } from '../../../src/core/runtime/loadChat.ts';
import { insertMessage } from '../../../src/core/store/messages.ts';
import { getSession, insertSession, latestChat, listChats } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { displayMessages } from '../../../src/core/store/transcript.ts';
import { verifyFolder } from '../../../src/core/store/verify/verifyFolder.ts';
import { run } from '../cli/commandLine.ts';
import { fixtureFolder } from './support/fixtures.ts';
import { addChat, addText, makeFolder, openStore, textsOf } from './support/stores.ts';
import { aMessage, aSession, wasmFile } from './support/values.ts';

interface Listed {
  readonly chats: string[];
  readonly unreadable: string[];
}

function list(store: Store, limit = 10): Listed {
  const unreadable: string[] = [];
  const chats = store.read((reader) =>
    listChats(reader, { archived: false, limit }, ({ sessionId }) => unreadable.push(sessionId)),
  );
  return { chats: chats.map(({ session }) => session.id).sort(), unreadable: unreadable.sort() };
}

describe('A chat that cannot be read', function () {
  this.timeout(60_000);

  /** Two sound chats around one that the statement spoils. */
  async function spoiled(sql: string): Promise<{ store: Store; sound: string[]; id: string }> {
    const store = await openStore();
    const before = await addChat(store, ['before']);
    const { id } = await addChat(store, ['spoiled', 'answer']);
    const after = await addChat(store, ['after']);
    await store.write((writer) => writer.run(sql, [id]));
    return { store, sound: [before.id, after.id].sort(), id };
  }

  const damages = [
    ['of a kind that nobody knows', `UPDATE sessions SET source = 'telepathy' WHERE id = ?`],
    ['with a count that is no number', `UPDATE sessions SET message_count = 'many' WHERE id = ?`],
    ['with a time that is no number', `UPDATE sessions SET last_activity_at = 'soon' WHERE id = ?`],
    ['whose messages are gone', 'DELETE FROM messages WHERE session_id = ?'],
  ] as const;
  for (const [what, sql] of damages) {
    it(`${what} is told, the others are listed, opened and written to, and it is never an empty chat`, async () => {
      const { store, sound, id } = await spoiled(sql);
      for (const limit of [1, 2, 10]) {
        const { chats } = list(store, limit);
        assert.equal(chats.length, Math.min(limit, 2));
        assert.ok(chats.every((chat) => sound.includes(chat)));
      }
      assert.deepEqual(list(store), { chats: sound, unreadable: [id] });
      assert.ok(sound.includes(store.read((reader) => latestChat(reader, null))?.id ?? ''));
      const isTold = { reason: 'unreadable', message: /cannot be read.*Nothing of it was removed/ };
      assert.throws(() => store.read((reader) => loadChat(reader, id)), isTold);
      const shown = (): string[] =>
        store.read((reader) => displayMessages(reader, id)).messages.map(({ text }) => text);
      if (sql.startsWith('DELETE')) assert.throws(shown, isTold);
      else assert.deepEqual(shown(), ['spoiled', 'answer']);
      for (const chat of sound) await store.write(addText(chat, 'written'));
      for (const chat of sound) assert.equal(textsOf(store, chat).at(-1), 'written');

      await store.close();
      const verified = await verifyFolder(store.folder, wasmFile);
      assert.ok(verified.faults.some((fault) => fault.includes(id)));
    });
  }

  it('is told by "holdfast list", which lists the others and exits with 1', async () => {
    const { store, sound, id } = await spoiled(damages[0][1]);
    const listed = await run(['list', '--store', store.folder]);
    assert.equal(listed.code, 1);
    assert.ok(listed.stderr.includes(`The chat ${id} cannot be read`));
    for (const chat of sound) assert.ok(listed.stdout.includes(chat));
  });

  it('is not one that never had a message: that one is empty, and kept for its draft only', async () => {
    const store = await openStore();
    const session = aSession();
    await store.write((writer) => insertSession(writer, session));
    assert.deepEqual(list(store), { chats: [], unreadable: [] });
    assert.deepEqual(store.read((reader) => loadChat(reader, session.id))?.messages, []);
  });
});

describe('A chat whose row was lost with a part of the journal', () => {
  it('is found again by its messages, and can be gone on with', async () => {
    const store = await openStore();
    const session = aSession({ title: 'zzyzx' });
    await store.write((writer) => insertSession(writer, session));
    const texts = ['Where is the bicycle?', 'In the shed.'];
    for (const [index, text] of texts.entries()) {
      const role = index === 0 ? 'user' : 'assistant';
      await store.write((writer) => insertMessage(writer, aMessage(session.id, { id: ulid(), role, text })));
    }
    await store.close();
    const journal = path.join(store.folder, 'journal-1.log');
    const bytes = fs.readFileSync(journal);
    bytes.fill(0xa5, bytes.indexOf('zzyzx'), bytes.indexOf('zzyzx') + 5);
    fs.writeFileSync(journal, bytes);

    const again = await openStore({ folder: store.folder });
    assert.deepEqual(list(again), { chats: [session.id], unreadable: [] });
    assert.deepEqual(textsOf(again, session.id), texts);
    const found = again.read((reader) => getSession(reader, session.id));
    assert.deepEqual(
      [found?.messageCount, found?.preview, found?.source],
      [2, 'Where is the bicycle?', 'panel'],
    );
    await again.write(addText(session.id, 'Thank you'));
    await again.close();
    assert.deepEqual((await verifyFolder(store.folder, wasmFile)).faults, []);
  });
});

describe('A store of the first version', function () {
  this.timeout(60_000);

  const entries = [
    ['list'],
    ['list', '--all'],
    ['verify'],
    ['export', '--all', '--format', 'json'],
    ['backup', 'FILE'],
  ];
  for (const words of entries) {
    it(`is opened by "holdfast ${words.join(' ')}" before anything else has opened it`, async () => {
      const folder = makeFolder();
      fs.cpSync(fixtureFolder(1), folder, { recursive: true });
      const file = path.join(makeFolder(), 'chats.backup');
      const { code, stdout, stderr } = await run([
        ...words.map((word) => (word === 'FILE' ? file : word)),
        '--store',
        folder,
      ]);
      assert.deepEqual([code, stderr], [0, '']);
      assert.ok(stdout !== '');
    });
  }
});
