import assert from 'node:assert/strict';
import * as path from 'node:path';
import { ulid } from 'ulid';
import * as v from 'valibot';
import { acquireLease } from '../../../src/core/store/leases.ts';
import { archiveLineage } from '../../../src/core/store/lineageChanges.ts';
import { listMemories } from '../../../src/core/store/memories.ts';
import { makeRoute, panelRouteKey, saveRoute } from '../../../src/core/store/routes.ts';
import type { Session } from '../../../src/core/session/model.ts';
import { getSession, listSessions } from '../../../src/core/store/sessions.ts';
import {
  failWith,
  reply,
  replyWithToolCalls,
  startModelServer,
  type ModelServer,
} from '../../support/modelServer.ts';
import type { ModelServerRequest } from '../../support/modelServerRequest.ts';
import { sampleWorkspace } from '../../support/vscode/paths.ts';
import { until } from '../../support/vscode/until.ts';
import { addChat, makeFolder, openStore, textsOf } from '../store/support/stores.ts';
import { chatSchema, run, runJson, start, type Running } from './commandLine.ts';

describe('holdfast ask', function () {
  this.timeout(120_000);
  let server: ModelServer;
  let folder: string;
  before(async () => {
    server = await startModelServer();
  });
  beforeEach(() => {
    folder = makeFolder();
  });
  after(() => server.close());

  const words = (...more: string[]): string[] => [
    ...['ask', '--store', folder, '--base-url', server.baseUrl, '--model', 'test-model'],
    ...more,
  ];

  /** A program whose answer has begun with "Half an answer", and what is known of its chat. */
  async function speaking(
    ...more: string[]
  ): Promise<{ running: Running; request: ModelServerRequest; id: string }> {
    const asked = new Promise<ModelServerRequest>((resolve) => server.enqueue(resolve));
    const running = await start(words('Say something', ...more));
    const request = await asked;
    await request.send('Half an answer');
    await until(() => running.stdout === 'Half an answer', { what: 'the printed half' });
    const { id } = await onlyChat();
    const window = await openStore({ folder });
    await until(() => textsOf(window, id).includes('Half an answer'), { what: 'the stored half' });
    return { running, request, id };
  }

  async function onlyChat(): Promise<Session> {
    const window = await openStore({ folder });
    const [session, ...others] = window.read((reader) => listSessions(reader, { limit: 2 }));
    assert.ok(session !== undefined && others.length === 0);
    return session;
  }

  async function chat(id: string): Promise<{ state: string; rows: string[][] }> {
    const { state, messages } = await runJson(chatSchema, ['show', id, '--store', folder]);
    return { state, rows: messages.map(({ role, status, text }) => [role, status, text]) };
  }

  it('streams an answer in a new chat, which keeps it, then goes on in that chat', async () => {
    const running = await start(words('What is up?', '--api-key-env', 'TEST_KEY'), {
      environment: { TEST_KEY: 'sesame' },
    });
    const request = await server.waitForRequest();
    assert.deepEqual([request.headers['authorization'], request.body.model], ['Bearer sesame', 'test-model']);
    await request.send('Not \u001bmuch,\r');
    await request.send('\nreally');
    await until(() => running.stdout === 'Not ␛much,\nreally', { what: 'the text before the end' });
    await request.finish();
    const result = await running.ended;
    assert.equal(result.code, 0);
    assert.equal(result.stdout, 'Not ␛much,\nreally\n');
    const id = /^session (\w+)\n$/.exec(result.stderr)?.[1] ?? '';
    assert.deepEqual(await chat(id), {
      state: 'open',
      rows: [
        ['user', 'complete', 'What is up?'],
        ['assistant', 'complete', 'Not \u001bmuch,\r\nreally'],
      ],
    });
    server.enqueue(reply('Still nothing.'));
    const again = await run(words('And now?', '--session', id));
    assert.deepEqual(again, { code: 0, stdout: 'Still nothing.\n', stderr: `session ${id}\n` });
    assert.deepEqual(
      server.requests.at(-1)?.body.messages.map(({ role }) => role),
      ['system', 'user', 'assistant', 'user'],
    );
    const store = await openStore({ folder });
    const session = store.read((reader) => getSession(reader, id));
    const { source, title, modelId, endReason } = session ?? {};
    assert.deepEqual([source, title, modelId, endReason], ['cli', 'What is up?', null, null]);
    const memories = store.read((reader) => listMemories(reader, session?.workspaceUri ?? null));
    assert.equal(memories.length, 1, 'later chats can find it');
  });

  it('prints one object with --json', async () => {
    server.enqueue(reply('Hello.'));
    const { code, stdout } = await run(words('Hi', '--json'));
    const printed = v.parse(v.object({ sessionId: v.string() }), JSON.parse(stdout));
    assert.deepEqual([code, printed], [0, { sessionId: printed.sessionId }]);
    assert.deepEqual(JSON.parse(stdout), { ...printed, status: 'complete', text: 'Hello.', problem: null });
  });

  it('lets the offline guide answer about the current folder when no endpoint is given', async () => {
    const words = ['ask', 'Where is the rental price calculated?', '--store', folder];
    const { code, stdout } = await run(words, '', { folder: sampleWorkspace });
    assert.equal(code, 0);
    assert.match(stdout, /src\/pricing\.ts:\d+/);
  });

  it('lets the model recall what was said in an earlier chat of the current folder', async () => {
    server.enqueue(reply('Agreed: pnpm it is.'));
    assert.equal((await run(words('We use pnpm from now on'))).code, 0);
    const call = { id: 'call', name: 'recall', arguments: '{"query":"pnpm"}' };
    server.enqueue(replyWithToolCalls(call), reply('With pnpm.'));
    const { code, stdout } = await run(words('How do we install packages?'));
    assert.deepEqual([code, stdout], [0, 'With pnpm.\n']);
    const answer = server.requests.at(-1)?.body.messages.at(-1);
    assert.equal(answer?.role, 'tool');
    const day = new Date().toISOString().slice(0, 10);
    assert.match(
      String(answer?.content),
      new RegExp(
        `^"We use pnpm from now on", ${day}:\n- Kept: .*pnpm.*\n- Assistant: Agreed: pnpm it is\\.\n- User: We use`,
      ),
    );
  });

  it('says why there is no answer, and keeps the prompt', async () => {
    server.enqueue(failWith(401, { error: { message: 'no such key' } }));
    const { code, stdout, stderr } = await run(words('Hi'));
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^session (\w+)\n.*wants an API key.*\n.*--session \1; --api-key-env/);
    const { rows } = await chat((await onlyChat()).id);
    assert.deepEqual(
      rows.map(([role, status]) => [role, status]),
      [
        ['user', 'complete'],
        ['assistant', 'error'],
      ],
    );
  });

  it('keeps what was said on Ctrl+C, which is no cleanup: the row stays open', async () => {
    const { running, id } = await speaking();
    running.process.kill('SIGINT');
    const result = await running.ended;
    assert.deepEqual(result, { code: 130, stdout: 'Half an answer\n', stderr: `session ${id}\n` });
    const { state, rows } = await chat(id);
    assert.deepEqual([state, rows[1]], ['open', ['assistant', 'interrupted', 'Half an answer']]);
  });

  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    it(`ends its row on ${signal}, loses nothing, and goes on with the next prompt`, async () => {
      const { running, id } = await speaking();
      running.process.kill(signal);
      assert.deepEqual(await running.ended, {
        code: 130,
        stdout: 'Half an answer\n',
        stderr: `session ${id}\n`,
      });
      const { state, rows } = await chat(id);
      assert.deepEqual([state, rows[1]], ['ended', ['assistant', 'interrupted', 'Half an answer']]);
      const store = await openStore({ folder });
      assert.equal(store.read((reader) => getSession(reader, id))?.endReason, 'host_shutdown');
      server.enqueue(reply('The other half.'));
      assert.equal((await run(words('Go on', '--session', id))).code, 0);
      assert.equal((await chat(id)).state, 'open');
    });
  }

  it('never ends the row of a chat that a panel has shown', async () => {
    server.enqueue(reply('Hello.'));
    assert.equal((await run(words('Hi'))).code, 0);
    const { id } = await onlyChat();
    const store = await openStore({ folder });
    const key = panelRouteKey(ulid());
    await store.write((writer) => saveRoute(writer, makeRoute({ key, sessionId: id, updatedAt: 1 })));
    const { running } = await speaking('--session', id);
    running.process.kill('SIGTERM');
    assert.equal((await running.ended).code, 130);
    const { state, rows } = await chat(id);
    assert.deepEqual([state, rows.at(-1)], ['open', ['assistant', 'interrupted', 'Half an answer']]);
  });

  it('that is killed leaves its text, and the chat goes on', async () => {
    const { running, id } = await speaking();
    running.process.kill('SIGKILL');
    await running.ended;
    server.enqueue(reply('The other half.'));
    assert.equal((await run(words('Go on', '--session', id))).code, 0);
    assert.deepEqual((await chat(id)).rows, [
      ['user', 'complete', 'Say something'],
      ['assistant', 'interrupted', 'Half an answer'],
      ['user', 'complete', 'Go on'],
      ['assistant', 'complete', 'The other half.'],
    ]);
  });

  it('stops when nobody reads it any more, and keeps what was said', async () => {
    const { running, request, id } = await speaking();
    running.process.stdout.destroy();
    await request.send(', and more');
    await request.closed;
    assert.equal((await running.ended).code, 130);
    const { state, rows } = await chat(id);
    assert.deepEqual([state, rows[1]?.[1]], ['open', 'interrupted']);
    assert.match(rows[1]?.[2] ?? '', /^Half an answer/);
  });

  it('refuses a chat that another window writes, an archived one and an unknown one, and changes nothing', async () => {
    const window = await openStore({ folder });
    const session = await addChat(window, ['Mine']);
    const archived = await addChat(window, ['Over']);
    await window.write((writer) => {
      const { windowId } = window;
      const lease = { sessionId: session.id, runtimeId: 'theirs', windowId, now: 1 };
      acquireLease(writer, { ...lease, isWindowAlive: () => true });
      archiveLineage(writer, archived.id, 1);
    });
    const outcomes: [string, number, RegExp][] = [
      [session.id, 1, /open in another window, which is writing to it/],
      [archived.id, 1, /archived: reopen it/],
      ['nobody', 3, /no chat with the id nobody/],
    ];
    const before = server.requests.length;
    for (const [id, code, sentence] of outcomes) {
      const refused = await run(words('Hi', '--session', id));
      assert.deepEqual([refused.code, refused.stdout], [code, '']);
      assert.match(refused.stderr, sentence);
    }
    assert.equal(server.requests.length, before);
    assert.deepEqual([textsOf(window, session.id), textsOf(window, archived.id)], [['Mine'], ['Over']]);
    const empty = await run(['ask', 'Hi', '--session', 'x', '--store', makeFolder()]);
    assert.equal(empty.code, 3);
    const nowhere = await run(['ask', 'Hi', '--store', path.join(folder, 'nowhere')]);
    assert.equal(nowhere.code, 1);
  });

  it('says what is wrong with its words', async () => {
    const cases: [string[], RegExp][] = [
      [['ask', '--store', folder], /needs the prompt/],
      [['ask', 'two', 'words', '--store', folder], /in quotes/],
      [['ask', ' ', '--store', folder], /needs the prompt/],
      [['ask', 'Hi', '--session', '', '--store', folder], /--session needs/],
      [['ask', 'Hi', '--model', 'm', '--store', folder], /need --base-url/],
      [['ask', 'Hi', '--base-url', 'http://x/v1', '--store', folder], /needs --model/],
      [['ask', 'Hi', '--base-url', 'x:1', '--model', 'm', '--store', folder], /needs an address/],
      [['ask', 'Hi'], /--store DIR/],
      [words('Hi', '--api-key-env', 'NOT_THERE'), /NOT_THERE holds no key/],
    ];
    for (const [wrong, sentence] of cases) {
      const { code, stderr } = await run(wrong);
      assert.equal(code, 2, wrong.join(' '));
      assert.match(stderr, sentence);
    }
  });
});
