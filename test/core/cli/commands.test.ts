import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { ulid } from 'ulid';
import { acquireLease } from '../../../src/core/store/leases.ts';
import { finishMessage, insertMessage } from '../../../src/core/store/messages.ts';
import { endSession, insertSession, updateSession } from '../../../src/core/store/sessions.ts';
import { addChat, makeFolder, openStore } from '../store/support/stores.ts';
import { aMessage, aSession } from '../store/support/values.ts';
import { chatSchema, listSchema, messageLine, run, runJson } from './commandLine.ts';

describe('holdfast', function () {
  this.timeout(120_000);

  it('says how it is used, with exit code 2, for anything it does not know', async () => {
    const wrong = [
      [],
      ['frobnicate', '--store', 'x'],
      ['list'],
      ['list', '--store', 'x', '--frobnicate'],
      ['list', '--store', 'x', '--all', '--archived'],
      ['list', 'extra', '--store', 'x'],
      ['show', '--store', 'x'],
      ['show', 'a', 'b', '--store', 'x'],
      ['append', '--store', 'x'],
      ['append', '--store', 'x', '--session', 'a', '--window', '0'],
      ['verify', '--store'],
    ];
    for (const words of wrong) {
      const { code, stdout, stderr } = await run(words);
      assert.deepEqual([code, stdout], [2, ''], words.join(' '));
      assert.match(stderr, /\nUsage: holdfast VERB/);
    }
    const help = await run(['--help']);
    assert.deepEqual([help.code, help.stderr], [0, '']);
    assert.match(help.stdout, /^Usage: holdfast VERB/);
  });

  it('says that a folder cannot be opened, and makes none', async () => {
    const folder = path.join(makeFolder(), 'missing');
    for (const verb of [['list'], ['show', 'a'], ['archive', 'a'], ['verify']]) {
      const { code, stdout, stderr } = await run([...verb, '--store', folder]);
      assert.deepEqual([code, stdout], [1, ''], verb.join(' '));
      assert.match(stderr, /^The chat storage folder .* cannot be used \(ENOENT\)/);
    }
    assert.equal(fs.existsSync(folder), false);
  });

  it('leaves a folder without chats as it is', async () => {
    const folder = makeFolder();
    assert.deepEqual(await runJson(listSchema, ['list', '--store', folder]), []);
    assert.equal((await run(['show', 'a', '--store', folder])).code, 3);
    assert.equal((await run(['verify', '--store', folder])).code, 0);
    assert.deepEqual(fs.readdirSync(folder), []);
  });

  it('says that there is no such chat, with exit code 3', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder });
    await addChat(store, ['first']);
    for (const verb of ['show', 'archive', 'reopen']) {
      const { code, stdout, stderr } = await run([verb, 'nobody', '--store', folder]);
      assert.deepEqual([code, stdout, stderr], [3, '', 'There is no chat with the id nobody.\n']);
    }
  });

  it('lists every state of a chat beside the window that makes them', async () => {
    const folder = makeFolder();
    const window = await openStore({ folder });
    const chats = await Promise.all(
      ['open', 'running', 'abandoned', 'archived', 'reset', 'ended', 'compacted'].map((title) =>
        addTitled(window, title),
      ),
    );
    const [, running, abandoned, archived, reset, ended, compacted] = chats;
    await window.write((writer) => {
      for (const [id, windowId] of [[running, window.windowId] as const, [abandoned, ulid()] as const]) {
        if (id === undefined) continue;
        insertMessage(writer, aMessage(id, { role: 'assistant', status: 'streaming' }));
        acquireLease(writer, {
          sessionId: id,
          windowId,
          runtimeId: ulid(),
          now: 0,
          isWindowAlive: () => true,
        });
      }
      endSession(writer, archived ?? '', 'archived', 1);
      endSession(writer, reset ?? '', 'session_reset', 1);
      endSession(writer, ended ?? '', 'idle_timeout', 1);
      endSession(writer, compacted ?? '', 'compaction', 1);
      insertSession(writer, aSession({ parentId: compacted ?? '', edge: 'compaction', title: 'compacted' }));
      updateSession(writer, compacted ?? '', { title: 'compacted before' });
    });
    const states = async (...options: string[]): Promise<Record<string, string>> => {
      const rows = await runJson(listSchema, ['list', '--store', folder, ...options]);
      return Object.fromEntries(rows.map(({ title, state }) => [title, state]));
    };
    const shown = { open: 'open', running: 'running', abandoned: 'open', ended: 'ended', compacted: 'open' };
    const hidden = { archived: 'archived', reset: 'archived' };
    assert.deepEqual(await states(), shown);
    assert.deepEqual(await states('--archived'), hidden);
    assert.deepEqual(await states('--all'), { ...shown, ...hidden, 'compacted before': 'compacted' });
    const text = await run(['list', '--store', folder, '--all']);
    assert.match(text.stdout, /^ID +STATE +MESSAGES +LAST ACTIVITY +TITLE\n/);
    assert.equal(text.stdout.split('\n').length, 10);
  });

  it('archives, shows and reopens a chat', async () => {
    const folder = makeFolder();
    const window = await openStore({ folder });
    const id = await addTitled(window, 'A chat');
    const archived = await run(['archive', id, '--store', folder]);
    assert.deepEqual(archived, { code: 0, stdout: 'Archived: A chat\n', stderr: '' });
    assert.equal((await runJson(chatSchema, ['show', id, '--store', folder])).state, 'archived');
    assert.equal((await run(['append', '--session', id, '--store', folder], messageLine('x'))).code, 1);
    const reopened = await run(['reopen', id, '--store', folder]);
    assert.deepEqual(reopened, { code: 0, stdout: 'Reopened: A chat\n', stderr: '' });
    const chat = await runJson(chatSchema, ['show', id, '--store', folder]);
    assert.deepEqual(
      { ...chat, messages: chat.messages.map(({ text, status }) => [text, status]) },
      {
        id,
        title: 'A chat',
        state: 'open',
        messages: [['Hello', 'complete']],
      },
    );
  });

  it('shows text that cannot steer the terminal', async () => {
    const folder = makeFolder();
    const window = await openStore({ folder });
    const id = await addTitled(window, 'Red \u001b[31m title');
    await window.write((writer) => {
      const message = aMessage(id, {
        text: 'one\n\u001b]0;owned\u0007two',
        role: 'assistant',
        status: 'streaming',
      });
      insertMessage(writer, message);
      finishMessage(writer, message.id, { status: 'interrupted', problem: null, usage: null, finishedAt: 1 });
    });
    const { stdout } = await run(['show', id, '--store', folder]);
    assert.equal(
      stdout,
      'Red ␛[31m title (open)\n\n--- 1 user\nHello\n\n--- 2 assistant (interrupted)\none\n␛]0;owned␇two\n',
    );
  });
});

async function addTitled(store: Awaited<ReturnType<typeof openStore>>, title: string): Promise<string> {
  const session = aSession({ title, titleSource: 'user' });
  await store.write((writer) => {
    insertSession(writer, session);
    insertMessage(writer, aMessage(session.id));
  });
  return session.id;
}
