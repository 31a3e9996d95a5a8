import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import { acquireLease } from '../../../src/core/store/leases.ts';
import { listMessages } from '../../../src/core/store/messages.ts';
import { endSession, getSession } from '../../../src/core/store/sessions.ts';
import { until } from '../../support/vscode/until.ts';
import { addChat, makeFolder, openStore, textsOf } from '../store/support/stores.ts';
import { messageLine, run, start } from './commandLine.ts';

describe('holdfast append', function () {
  this.timeout(120_000);

  it('makes a chat of source cli, prints each id after it is kept, and adds nothing twice', async () => {
    const folder = makeFolder();
    const words = ['append', '--store', folder, '--session', 'chat', '--title', 'A title'];
    const first = await run(words, messageLine('a') + '\n' + messageLine('b', 'two\u2028lines', 'assistant'));
    assert.deepEqual(first, { code: 0, stdout: 'a\nb\n', stderr: '' });
    // Without a newline at the end, and with one that is there already.
    const again = await run(words, messageLine('b') + messageLine('c').trimEnd());
    assert.deepEqual(again, { code: 0, stdout: 'b\nc\n', stderr: '' });
    const store = await openStore({ folder });
    const session = store.read((reader) => getSession(reader, 'chat'));
    assert.deepEqual([session?.source, session?.title, session?.messageCount], ['cli', 'A title', 3]);
    assert.deepEqual(
      store
        .read((reader) => listMessages(reader, 'chat'))
        .map(({ id, seq, role, text }) => [id, seq, role, text]),
      [
        ['a', 1, 'user', 'text of a'],
        ['b', 2, 'assistant', 'two\u2028lines'],
        ['c', 3, 'user', 'text of c'],
      ],
    );
  });

  it('stops at a malformed line with exit code 2 and keeps the lines before it', async () => {
    for (const malformed of [
      '{"id":"x"',
      '{"id":"x","role":"user"}',
      '{"id":"x","role":"root","text":""}',
      '[]',
    ]) {
      const folder = makeFolder();
      const words = ['append', '--store', folder, '--session', 'chat', '--window', '8'];
      const result = await run(
        words,
        `${messageLine('a')}${messageLine('b')}${malformed}\n${messageLine('c')}`,
      );
      assert.deepEqual([result.code, result.stdout], [2, 'a\nb\n'], malformed);
      assert.match(result.stderr, /^Line 3 is not/);
      const store = await openStore({ folder });
      assert.equal(textsOf(store, 'chat').length, 2);
    }
  });

  it('keeps many in flight and acknowledges them in order', async () => {
    const folder = makeFolder();
    const ids = Array.from({ length: 500 }, (_, index) => `m${index}`);
    const words = ['append', '--store', folder, '--session', 'chat', '--window', '16'];
    const result = await run(words, ids.map((id) => messageLine(id)).join(''));
    assert.deepEqual(result, { code: 0, stdout: ids.map((id) => `${id}\n`).join(''), stderr: '' });
    const store = await openStore({ folder });
    assert.deepEqual(
      textsOf(store, 'chat'),
      ids.map((id) => `text of ${id}`),
    );
  });

  it('shares a chat with other appends, beside a live window that follows', async () => {
    const folder = makeFolder();
    const window = await openStore({ folder, followInterval: 20 });
    const names = ['a', 'b', 'c', 'd'];
    const results = await Promise.all(
      names.map((name) =>
        run(
          ['append', '--store', folder, '--session', 'chat', '--window', '4'],
          Array.from({ length: 50 }, (_, index) => messageLine(`${name}${index}`, `${name} ${index}`)).join(
            '',
          ),
        ),
      ),
    );
    for (const result of results) assert.deepEqual([result.code, result.stderr], [0, '']);
    const texts = textsOf(window, 'chat');
    assert.equal(texts.length, 200);
    for (const name of names) {
      assert.deepEqual(
        texts.filter((text) => text.startsWith(`${name} `)),
        Array.from({ length: 50 }, (_, index) => `${name} ${index}`),
      );
    }
  });

  it('leaves a chat alone that a live window writes, and takes over from a dead one', async () => {
    const folder = makeFolder();
    const window = await openStore({ folder });
    const [held, orphaned] = [await addChat(window, ['first']), await addChat(window, ['first'])];
    const take = (sessionId: string, windowId: string) =>
      window.write((writer) =>
        acquireLease(writer, { sessionId, windowId, runtimeId: ulid(), now: 0, isWindowAlive: () => true }),
      );
    await take(held.id, window.windowId);
    await take(orphaned.id, ulid());
    const refused = await run(['append', '--store', folder, '--session', held.id], messageLine('a'));
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.equal(refused.stderr, `Another window is writing to the chat ${held.id}.\n`);
    assert.deepEqual(textsOf(window, held.id), ['first']);
    const taken = await run(['append', '--store', folder, '--session', orphaned.id], messageLine('a'));
    assert.deepEqual(taken, { code: 0, stdout: 'a\n', stderr: '' });
    assert.deepEqual(textsOf(window, orphaned.id), ['first', 'text of a']);
  });

  it('refuses an archived chat and the id of a message of another chat; wakes a chat that cleanup ended', async () => {
    const folder = makeFolder();
    const window = await openStore({ folder });
    const [archived, ended] = [await addChat(window, ['first']), await addChat(window, ['first'])];
    await window.write((writer) => {
      endSession(writer, archived.id, 'archived', 1);
      endSession(writer, ended.id, 'idle_timeout', 1);
    });
    const refused = await run(['append', '--store', folder, '--session', archived.id], messageLine('a'));
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(refused.stderr, /archived\. Reopen it/);
    const woken = await run(['append', '--store', folder, '--session', ended.id], messageLine('a'));
    assert.deepEqual(woken, { code: 0, stdout: 'a\n', stderr: '' });
    assert.equal(window.read((reader) => getSession(reader, ended.id))?.endReason, null);
    const taken = await run(['append', '--store', folder, '--session', 'new'], messageLine('a'));
    assert.deepEqual([taken.code, taken.stdout], [1, '']);
    assert.match(taken.stderr, /The id a belongs to a message of another chat/);
    assert.equal(
      window.read((reader) => getSession(reader, 'new')),
      null,
    );
  });

  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    it(`finishes what it has on ${signal}, and leaves the chat to be gone on with`, async () => {
      const folder = makeFolder();
      const words = ['append', '--store', folder, '--session', 'chat'];
      const running = await start(words);
      running.write(messageLine('a') + messageLine('b') + '{"id":"half');
      await until(() => running.lines.length === 2, { what: 'two acknowledged lines' });
      running.process.kill(signal);
      assert.deepEqual(await running.ended, { code: 0, stdout: 'a\nb\n', stderr: '' });
      const store = await openStore({ folder });
      assert.equal(store.read((reader) => getSession(reader, 'chat'))?.endReason, 'host_shutdown');
      assert.equal((await run(words, messageLine('c'))).code, 0);
      assert.equal(store.read((reader) => getSession(reader, 'chat'))?.endReason, null);
      assert.equal(textsOf(store, 'chat').length, 3);
    });
  }

  it('loses nothing acknowledged when it is killed', async () => {
    const folder = makeFolder();
    const words = ['append', '--store', folder, '--session', 'chat', '--window', '8'];
    const running = await start(words);
    running.write(Array.from({ length: 20_000 }, (_, index) => messageLine(`m${index}`)).join(''));
    await until(() => running.lines.length > 100, { what: 'a hundred acknowledged lines' });
    running.process.kill('SIGKILL');
    await running.ended;
    const acknowledged = running.lines;
    const again = await run(words, acknowledged.map((id) => messageLine(id)).join(''));
    assert.equal(again.stdout, acknowledged.map((id) => `${id}\n`).join(''));
    const store = await openStore({ folder });
    const ids = store.read((reader) => listMessages(reader, 'chat')).map(({ id }) => id);
    assert.deepEqual(ids.slice(0, acknowledged.length), acknowledged);
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(ids.length <= acknowledged.length + 8);
  });
});
