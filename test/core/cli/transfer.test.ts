import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import * as v from 'valibot';
import { messageSchema } from '../../../src/core/session/model.ts';
import { deleteLineage } from '../../../src/core/store/deletion.ts';
import { insertMessage } from '../../../src/core/store/messages.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import { addChat, makeFolder, openStore, textsOf } from '../store/support/stores.ts';
import { aMessage, aSession } from '../store/support/values.ts';
import { listSchema, reportSchema, run, runJson } from './commandLine.ts';

/** Whether a message could be read is told in its place, not in a field of each. */
const exportedSchema = v.omit(messageSchema, ['contents']);
const exportSchema = v.strictObject({
  format: v.literal('holdfast-export'),
  version: v.literal(1),
  chats: v.array(
    v.object({ id: v.string(), title: v.string(), archived: v.boolean(), messages: v.array(exportedSchema) }),
  ),
});

const texts = ['first', 'a "quoted" line\nand 中文 with ```\nfences', 'third'];

describe('holdfast export', function () {
  this.timeout(120_000);

  it('gives every chat as JSON that is valid as a whole, each message once', async () => {
    const folder = makeFolder();
    const window = await openStore({ folder });
    const first = await addChat(window, texts);
    const many = Array.from({ length: 1201 }, (_, index) => `message ${index}`);
    const second = await addChat(window, many);
    const all = await run(['export', '--all', '--format', 'json', '--store', folder]);
    assert.deepEqual([all.code, all.stderr], [0, '']);
    const { chats } = v.parse(exportSchema, JSON.parse(all.stdout));
    const found = new Map(chats.map(({ id, messages }) => [id, messages.map(({ text }) => text)]));
    assert.deepEqual(
      found,
      new Map([
        [second.id, many],
        [first.id, texts],
      ]),
    );
    const one = await run(['export', first.id, '--format', 'json', '--store', folder]);
    assert.deepEqual(
      v.parse(exportSchema, JSON.parse(one.stdout)).chats.map(({ id }) => id),
      [first.id],
    );
  });

  it('gives a chat that was compacted as one, without the copies', async () => {
    const folder = makeFolder();
    const window = await openStore({ folder });
    const parent = aSession({ endReason: 'compaction', endedAt: 5 });
    const child = aSession({ parentId: parent.id, edge: 'compaction' });
    const old = aMessage(parent.id, { text: 'before' });
    await window.write((writer) => {
      insertSession(writer, parent);
      insertMessage(writer, old);
      insertSession(writer, child);
      insertMessage(writer, aMessage(child.id, { text: 'before', copyOf: old.id }));
      insertMessage(writer, aMessage(child.id, { text: 'after' }));
    });
    for (const id of [parent.id, child.id]) {
      const { stdout } = await run(['export', id, '--format', 'json', '--store', folder]);
      const { chats } = v.parse(exportSchema, JSON.parse(stdout));
      assert.deepEqual(
        chats.map((chat) => chat.messages.map(({ text }) => text)),
        [['before', 'after']],
      );
    }
  });

  it('gives Markdown in which a tool result cannot end its fence', async () => {
    const folder = makeFolder();
    const window = await openStore({ folder });
    const session = aSession({ title: 'A\nchat', titleSource: 'user' });
    await window.write((writer) => {
      insertSession(writer, session);
      insertMessage(writer, aMessage(session.id, { text: 'Hello', createdAt: 0 }));
      const tool = {
        role: 'tool',
        toolName: 'read_file',
        text: '```\n# no heading\n```',
        createdAt: 0,
      } as const;
      insertMessage(writer, aMessage(session.id, tool));
    });
    const { stdout } = await run(['export', session.id, '--format', 'md', '--store', folder]);
    assert.match(stdout, /^# A chat\n\n- Chat: /);
    assert.match(stdout, /\n## You · 1970-01-01T00:00:00\.000Z\n\nHello\n/);
    assert.match(stdout, /\n## Tool read_file · [^\n]+\n\n````\n```\n# no heading\n```\n````\n$/);
  });

  it('says so, with the exit codes of the other verbs', async () => {
    const folder = makeFolder();
    await addChat(await openStore({ folder }), texts);
    const code = async (...words: string[]): Promise<number | null> =>
      (await run([...words, '--store', folder])).code;
    assert.equal(await code('export', 'nobody', '--format', 'md'), 3);
    assert.equal(await code('export', '--all'), 2);
    assert.equal(await code('export', '--format', 'md'), 2);
    assert.equal(await code('export', 'a', '--all', '--format', 'md'), 2);
    assert.equal(await code('backup'), 2);
    assert.equal(await code('backup', path.join(folder, 'missing', 'file')), 1);
  });
});

describe('holdfast backup and restore', function () {
  this.timeout(120_000);

  const mergeSchema = v.strictObject({
    chats: v.number(),
    deletedBefore: v.number(),
    knownChats: v.number(),
    messages: v.number(),
    knownMessages: v.number(),
    drafts: v.number(),
  });

  it('bring everything to an empty folder, and a second time nothing', async () => {
    const folder = makeFolder();
    const window = await openStore({ folder });
    const chat = await addChat(window, texts);
    await addChat(window, ['other']);
    const file = path.join(makeFolder(), 'chats.backup');
    const saved = await run(['backup', file, '--store', folder]);
    assert.deepEqual(saved, {
      code: 0,
      stdout: `Saved 2 chats with 4 messages to ${file}, and read them back.\n`,
      stderr: '',
    });
    assert.deepEqual(fs.readdirSync(path.dirname(file)), ['chats.backup']);

    const target = makeFolder();
    const restore = (): Promise<v.InferOutput<typeof mergeSchema>> =>
      runJson(mergeSchema, ['restore', file, '--store', target]);
    const nothing = { chats: 0, deletedBefore: 0, knownChats: 0, messages: 0, knownMessages: 0, drafts: 0 };
    assert.deepEqual(await restore(), { ...nothing, chats: 2, messages: 4 });
    assert.deepEqual(await restore(), { ...nothing, knownChats: 2, knownMessages: 4 });
    const restored = await openStore({ folder: target });
    assert.deepEqual(textsOf(restored, chat.id), texts);
    const list = (where: string) => runJson(listSchema, ['list', '--store', where]);
    assert.deepEqual(await list(target), await list(folder));
    assert.deepEqual((await runJson(reportSchema, ['verify', '--store', target])).faults, []);
  });

  it('overwrite neither a file nor a chat that is there', async () => {
    const folder = makeFolder();
    const window = await openStore({ folder });
    const chat = await addChat(window, ['one', 'two']);
    const file = path.join(makeFolder(), 'chats.backup');
    assert.equal((await run(['backup', file, '--store', folder])).code, 0);
    const before = fs.readFileSync(file);
    const again = await run(['backup', file, '--store', folder]);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /is there already and was not overwritten/);
    assert.deepEqual(fs.readFileSync(file), before);

    await window.write((writer) => {
      writer.run(`UPDATE sessions SET title = 'mine' WHERE id = ?`, [chat.id]);
      writer.run(`UPDATE messages SET content = 'changed' WHERE session_id = ? AND seq = 2`, [chat.id]);
    });
    const report = await runJson(mergeSchema, ['restore', file, '--store', folder]);
    assert.deepEqual(report, {
      chats: 0,
      deletedBefore: 0,
      knownChats: 1,
      messages: 0,
      knownMessages: 2,
      drafts: 0,
    });
    assert.deepEqual(textsOf(window, chat.id), ['one', 'changed']);
    assert.equal((await runJson(listSchema, ['list', '--store', folder]))[0]?.title, 'mine');
  });

  it('bring back a chat that was deleted here, and say so', async () => {
    const folder = makeFolder();
    const window = await openStore({ folder });
    const chat = await addChat(window, texts);
    await addChat(window, ['stays']);
    const file = path.join(makeFolder(), 'chats.backup');
    assert.equal((await run(['backup', file, '--store', folder])).code, 0);
    const deletion = { sessionId: chat.id, isOtherAlive: () => false };
    await window.write((writer) => deleteLineage(writer, deletion));
    const { stdout } = await run(['restore', file, '--store', folder]);
    assert.match(stdout, /^1 chats .* 1 chats and 1 messages were there already/);
    assert.match(
      stdout,
      /\n1 of the chats had been deleted permanently here and are back\. Delete them again/,
    );
    assert.deepEqual(textsOf(window, chat.id), texts);
    const again = await run(['restore', file, '--store', folder]);
    assert.doesNotMatch(again.stdout, /deleted/);
  });

  it('refuse a damaged backup and change nothing, wherever it is damaged', async () => {
    const folder = makeFolder();
    await addChat(await openStore({ folder }), texts);
    const file = path.join(makeFolder(), 'chats.backup');
    await run(['backup', file, '--store', folder]);
    const whole = fs.readFileSync(file);
    const lines = whole.toString().split('\n');
    const cases: [string, Buffer][] = [
      ['cut', whole.subarray(0, whole.length - 40)],
      ['cut at a line', Buffer.from(`${lines.slice(0, -2).join('\n')}\n`)],
      ['a line is missing', Buffer.from([...lines.slice(0, 2), ...lines.slice(3)].join('\n'))],
      ['zeros', Buffer.alloc(whole.length)],
      ['empty', Buffer.alloc(0)],
      ['another file', Buffer.from('{"chats":[]}\n')],
      ...[0.1, 0.5, 0.95].map((share): [string, Buffer] => {
        const flipped = Buffer.from(whole);
        const at = Math.floor(share * whole.length);
        flipped[at] = (flipped[at] ?? 0) ^ 4;
        return [`flipped at ${share}`, flipped];
      }),
    ];
    const target = makeFolder();
    await addChat(await openStore({ folder: target }), ['kept']);
    for (const [what, bytes] of cases) {
      fs.writeFileSync(file, bytes);
      const { code, stderr } = await run(['restore', file, '--store', target]);
      assert.equal(code, 1, what);
      assert.match(stderr, /cannot be used as a backup of chats .* Nothing was changed/, what);
    }
    assert.equal((await run(['restore', `${file}.missing`, '--store', target])).code, 1);
    assert.equal((await runJson(listSchema, ['list', '--store', target, '--all'])).length, 1);
  });

  it('fill the gap that a loss had left, where it was', async () => {
    const folder = makeFolder();
    const window = await openStore({ folder });
    const chat = await addChat(window, ['one', 'two', 'three', 'four']);
    const file = path.join(makeFolder(), 'chats.backup');
    await run(['backup', file, '--store', folder]);
    await window.write((writer) => {
      writer.run('DELETE FROM messages WHERE session_id = ? AND seq IN (2, 3)', [chat.id]);
      writer.run('UPDATE sessions SET message_count = 2 WHERE id = ?', [chat.id]);
    });
    await run(['restore', file, '--store', folder]);
    assert.deepEqual(textsOf(window, chat.id), ['one', 'two', 'three', 'four']);
    assert.deepEqual((await runJson(reportSchema, ['verify', '--store', folder])).faults, []);
  });

  it('do not continue a chat behind its user that went on differently here', async () => {
    const here = makeFolder();
    const window = await openStore({ folder: here });
    const parent = await addChat(window, ['begun']);
    const file = path.join(makeFolder(), 'chats.backup');
    const there = makeFolder();
    await run(['backup', file, '--store', here]);
    await run(['restore', file, '--store', there]);
    const other = await openStore({ folder: there });
    const child = aSession({ parentId: parent.id, edge: 'compaction' });
    await other.write((writer) => {
      writer.run(`UPDATE sessions SET end_reason = 'compaction', ended_at = 1 WHERE id = ?`, [parent.id]);
      insertSession(writer, child);
      insertMessage(writer, aMessage(child.id, { text: 'there', status: 'streaming' }));
    });
    const later = path.join(makeFolder(), 'chats.backup');
    await run(['backup', later, '--store', there]);
    await run(['restore', later, '--store', here]);
    const list = await runJson(listSchema, ['list', '--store', here]);
    assert.deepEqual(new Set(list.map(({ id }) => id)), new Set([parent.id, child.id]));
    assert.deepEqual(
      list.map(({ state }) => state),
      ['open', 'open'],
    );
  });
});

describe('holdfast salvage', function () {
  this.timeout(120_000);

  const salvageSchema = v.object({
    lost: v.number(),
    applied: v.number(),
    missing: v.array(v.tuple([v.number(), v.number()])),
    unreadable: v.array(v.string()),
  });

  it('reads what can be read into a new folder, tells what could not, and leaves the damaged one as it is', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder });
    const chat = await addChat(store);
    for (let index = 0; index < 9; index++) {
      await store.write((writer) => insertMessage(writer, aMessage(chat.id, { text: `text ${index}` })));
    }
    await store.close();
    const journal = path.join(folder, 'journal-1.log');
    const damaged = fs.readFileSync(journal, 'latin1').replace('text 4', 'tex# 4');
    fs.writeFileSync(journal, damaged, 'latin1');
    const target = path.join(makeFolder(), 'salvaged');
    const report = await runJson(salvageSchema, ['salvage', target, '--store', folder], 1);
    assert.deepEqual([report.lost, report.missing.length, report.unreadable], [1, 1, []]);
    assert.equal(fs.readFileSync(journal, 'latin1'), damaged);
    assert.deepEqual(fs.readdirSync(folder).includes('damaged'), false);
    const salvaged = await openStore({ folder: target });
    assert.deepEqual(
      textsOf(salvaged, chat.id),
      [0, 1, 2, 3, 5, 6, 7, 8].map((index) => `text ${index}`),
    );

    const full = await run(['salvage', target, '--store', folder]);
    assert.equal(full.code, 2);
    assert.match(full.stderr, /is not empty/);
  });

  it('copies a sound folder whole', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder });
    const chat = await addChat(store, texts);
    const target = path.join(makeFolder(), 'salvaged');
    const { code, stdout } = await run(['salvage', target, '--store', folder]);
    assert.equal(code, 0);
    assert.match(stdout, /nothing is known to be missing/);
    assert.deepEqual(textsOf(await openStore({ folder: target }), chat.id), texts);
    assert.deepEqual((await runJson(reportSchema, ['verify', '--store', target])).faults, []);
  });
});
