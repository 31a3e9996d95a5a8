/** What people lost with tools like this one, by kind: see docs/lifecycle-tests.md for which report is held where. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ulid } from 'ulid';
import { matchLostPanel } from '../../../src/core/runtime/lostPanel.ts';
import { findWorkspaceChat } from '../../../src/core/runtime/workspaceChat.ts';
import { interruptedToolResult } from '../../../src/core/session/projection.ts';
import { listFaults } from '../../../src/core/store/faults.ts';
import { insertMessage, listMessages } from '../../../src/core/store/messages.ts';
import { pinLineage, renameLineage } from '../../../src/core/store/lineageChanges.ts';
import {
  countSessions,
  getSession,
  insertSession,
  listChats,
  updateSession,
} from '../../../src/core/store/sessions.ts';
import { displayMessages } from '../../../src/core/store/transcript.ts';
import { aMessage, aSession } from '../store/support/values.ts';
import { answered, branchIn, letGo, running, show, textsOf, turn } from './stage.ts';
import { Panel, until, World, type LiveWindow } from './world.ts';

const stops = Number(process.env['HOLDFAST_STOPS'] ?? 25);

describe('What others lost, a chat here keeps', function () {
  this.timeout(30_000 + stops * 200);
  let world: World;
  let window: LiveWindow;
  beforeEach(async () => {
    world = new World();
    window = await world.start();
  });
  afterEach(() => world.close());

  it('a panel without its state finds its chat by title and column; two that fit are a question; never an empty chat', async () => {
    const { id, panel, runtime } = await answered(window);
    window.kill([id]);
    const next = await world.start();
    const place = { title: runtime.session.title, viewColumn: 1 };
    const match = await next.routes.match(place, 0);
    assert.equal(match.kind, 'one');
    assert.ok(match.kind === 'one' && match.route.sessionId === id);
    assert.ok(await next.routes.claim(panel.id));
    const restored = new Panel(next, match.route.sessionId, panel.id);
    assert.deepEqual((await restored.attached()).state.messages, runtime.state.messages);
    next.kill([id]);
    const third = await world.start();
    await third.routes.record(ulid(), runtime.session, place);
    await third.routes.release();
    assert.equal((await third.routes.match(place, 0)).kind, 'many');
  });

  it('a window that missed the beginning of an answer, and more than a page before it, shows all of it', async () => {
    const { id, runtime } = await answered(window);
    await letGo(window, id);
    const other = await world.start();
    const follower = new Panel(other, id);
    await follower.attached();
    const again = await window.registry.open(id);
    for (let count = 0; count < 20; count++) await turn(window, again, `Question ${count}`);
    await again.send(ulid(), 'Last');
    window.modelOf(id).play({ type: 'text', text: 'Begun' });
    await until(() => again.state.messages.at(-1)?.text === 'Begun', 'it speaks');
    await again.flush();
    await other.settled();
    assert.deepEqual(
      follower.state?.messages.map(({ text }) => text),
      again.state.messages.map(({ text }) => text),
    );
    assert.equal(runtime.isFinalized, true);
  });

  it('a new chat in the panel of a running one leaves that one to finish', async () => {
    const { id, panel, runtime } = await running(window);
    await panel.show(ulid());
    window.modelOf(id).answer(' and done.');
    await until(() => !runtime.isRunning, 'the answer is over');
    await runtime.flush();
    assert.deepEqual(textsOf(window, id), ['Go', 'Begun and done.']);
  });

  it('a panel that is closed at half of an answer and opened again at most of it has no gap and no repeat', async () => {
    const { id, panel, runtime } = await running(window);
    await panel.leave('disposed');
    window.modelOf(id).play({ type: 'text', text: ' unseen' });
    await until(() => runtime.state.messages.at(-1)?.text === 'Begun unseen', 'it goes on');
    const again = await show(window, id);
    assert.equal(again.runtime, runtime);
    window.modelOf(id).answer(' and seen.');
    await until(() => !runtime.isRunning, 'the answer is over');
    assert.equal(again.panel.state?.messages.at(-1)?.text, 'Begun unseen and seen.');
  });

  it('an answer that was streaming when its window died is interrupted when it is opened, and Retry asks again', async () => {
    const { id } = await running(window);
    window.kill([id]);
    const next = await world.start();
    const { runtime } = await show(next, id);
    assert.equal(runtime.state.messages.at(-1)?.status, 'interrupted');
    await runtime.retry();
    next.modelOf(id).answer('Whole.');
    await until(() => !runtime.isRunning, 'the answer is over');
    await runtime.flush();
    const rows = next.store.read((reader) => listMessages(reader, id));
    assert.deepEqual(
      rows.map(({ text, status, active }) => [text, status, active]),
      [
        ['Go', 'complete', true],
        ['Begun', 'interrupted', false],
        ['Whole.', 'complete', true],
      ],
    );
  });

  it(`Stop at any chunk boundary leaves exactly the text so far, and a sound store (${stops} seeded answers)`, async () => {
    const chunks = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }), {
      minLength: 1,
      maxLength: 8,
    });
    for (const answer of fc.sample(chunks, { numRuns: stops, seed: 18 })) {
      const { id, runtime } = await show(window);
      const expected: [string, string][] = [];
      for (let boundary = 0; boundary <= answer.length; boundary++) {
        const said = answer.slice(0, boundary);
        await runtime.send(ulid(), 'Count');
        for (const text of said) window.modelOf(id).play({ type: 'text', text });
        const whole = said.join('');
        if (whole !== '') await until(() => runtime.state.messages.at(-1)?.text === whole, 'all is said');
        await runtime.stop();
        expected.push(['Count', 'complete'], [whole, 'interrupted']);
      }
      const rows = window.store.read((reader) => listMessages(reader, id));
      assert.deepEqual(
        rows.map(({ text, status }) => [text, status]),
        expected,
      );
      await letGo(window, id);
    }
    assert.deepEqual(window.store.read(listFaults), []);
  });

  it('the folder was moved: the chat is in the list of all, opens whole, and can be linked to the new folder', async () => {
    const { id } = await answered(window);
    const inFolder = (workspaceUri: string): string[] => listed(window, workspaceUri);
    assert.deepEqual([inFolder('file:///moved'), listed(window, null)], [[], [id]]);
    await window.store.write((writer) =>
      updateSession(writer, id, { workspaceUri: 'file:///moved', workspaceName: 'moved' }),
    );
    assert.deepEqual([inFolder('file:///moved'), inFolder('file:///bicycles')], [[id], []]);
    assert.deepEqual(textsOf(window, id), ['Hello', 'Hi']);
  });

  it('the workspace got another name, untitled and then saved: chats of all of them are listed with their words', async () => {
    const ids = ['file:///a', 'untitled:b', 'file:///c.code-workspace'].map((workspaceUri, index) => {
      const session = aSession({ workspaceUri, lastActivityAt: index });
      return { session, message: aMessage(session.id, { text: workspaceUri, createdAt: index }) };
    });
    for (const { session, message } of ids) {
      await window.store.write((writer) => {
        insertSession(writer, session);
        insertMessage(writer, message);
      });
    }
    assert.deepEqual(
      listed(window, null).reverse(),
      ids.map(({ session }) => session.id),
    );
    for (const { session } of ids) {
      assert.deepEqual(textsOf(window, session.id), [session.workspaceUri]);
      assert.equal((await window.registry.open(session.id)).state.messages.length, 1);
    }
    // A fourth name has no chat of its own: the newest is offered, not taken.
    const options = { isWindowAlive: () => true, log: () => undefined };
    const found = await window.store.write((writer) => findWorkspaceChat(writer, 'file:///d', options));
    assert.ok(found.kind === 'offered' && found.session.id === ids.at(-1)?.session.id);
  });

  it('a window that knows nothing but the folder of the store lists and opens every chat', async () => {
    const first = await answered(window);
    const second = await answered(window);
    window.kill([first.id, second.id]);
    const next = await world.start();
    await next.store.write((writer) => writer.run('DELETE FROM routes')); // all that a place remembers
    assert.deepEqual(listed(next, null).sort(), [first.id, second.id].sort());
    const { runtime } = await show(next, first.id);
    assert.deepEqual(runtime.state.messages, first.runtime.state.messages);
    const lost = next.store.read((reader) =>
      matchLostPanel(reader, { workspaceUri: 'file:///other', title: 'Hello', viewColumn: 1 }, () => true),
    );
    assert.equal(lost.kind, 'none');
  });

  it('what was typed and then sent is one chat, in one row', async () => {
    const { id, runtime } = await show(window);
    runtime.setDraft({ text: 'Hel', caret: 3, scroll: null, editedAt: 1 });
    await runtime.flush();
    assert.deepEqual(listed(window, null), [id]);
    await Promise.all([turn(window, runtime, 'Hello'), window.registry.openOrCreate(newPlace(id))]);
    assert.deepEqual([listed(window, null), window.store.read(countSessions)], [[id], 1]);
  });

  it('five restarts in the middle of a chat leave one row', async () => {
    const { id, panel } = await running(window);
    let current = window;
    for (let restart = 0; restart < 5; restart++) {
      current.kill([id]);
      current = await world.start();
      assert.ok(await current.routes.claim(panel.id));
      const again = new Panel(current, id, panel.id);
      await turn(current, await again.attached(), `After ${restart}`);
      await again.record();
    }
    assert.deepEqual([listed(current, null), current.store.read(countSessions)], [[id], 1]);
    assert.equal(textsOf(current, id).length, 12);
  });

  it('a busy chat that is closed goes on, is shown as running, and opens again', async () => {
    const { id, panel, runtime } = await running(window);
    await panel.leave('disposed');
    assert.deepEqual(
      window.registry.runningSessions().map((session) => session.id),
      [id],
    );
    assert.ok(window.registry.isRunning(id));
    assert.equal((await show(window, id)).runtime, runtime);
    await runtime.stop();
    assert.equal(window.registry.isRunning(id), false);
  });

  it('a window killed in a tool call: the next request carries a result for the call, and the rows stay as they are', async () => {
    const session = aSession({ modelId: 'm' });
    const call = { id: 'call', name: 'readFile', arguments: '{}' };
    await window.store.write((writer) => {
      insertSession(writer, session);
      insertMessage(writer, aMessage(session.id, { text: 'Look' }));
      insertMessage(writer, aMessage(session.id, { role: 'assistant', text: '', toolCalls: [call] }));
    });
    const stored = () => window.store.read((reader) => displayMessages(reader, session.id).messages);
    const before = stored();
    const runtime = await window.registry.open(session.id);
    await runtime.send(ulid(), 'Go on');
    window.modelOf('m').answer('Gone on');
    await until(() => !runtime.isRunning, 'the answer is over');
    await runtime.flush();
    const asked = window.modelOf('m').requests.at(-1)?.messages ?? [];
    assert.deepEqual(
      asked.map(({ role, text }) => [role, text]),
      [
        ['user', 'Look'],
        ['assistant', ''],
        ['tool', interruptedToolResult],
        ['user', 'Go on'],
      ],
    );
    assert.deepEqual(stored().slice(0, 2), before);
  });

  it('two panels of one window that begin chats at the same time lose none of each other’s', async () => {
    const begin = async (name: string): Promise<void> => {
      for (let count = 0; count < 50; count++) {
        const panel = new Panel(window, ulid());
        const runtime = await panel.attached();
        await runtime.send(ulid(), `${name} ${count}`);
        await runtime.stop();
        await panel.leave('disposed');
      }
    };
    await Promise.all([begin('left'), begin('right')]);
    const titles = window.store
      .read((reader) => listChats(reader, { archived: false, limit: 500 }))
      .map(({ session }) => session.title);
    const wanted = ['left', 'right'].flatMap((name) =>
      Array.from({ length: 50 }, (_, count) => `${name} ${count}`),
    );
    assert.deepEqual(titles.sort(), wanted.sort());
  });

  it('a chat that is renamed, pinned, answered, archived and branched by different windows at once has all of it', async () => {
    const other = await world.start();
    const { id, runtime } = await answered(window);
    await runtime.send(ulid(), 'At once');
    window.modelOf(id).answer('Yes');
    const [branch] = await Promise.all([
      branchIn(other, id),
      other.store.write((writer) => renameLineage(writer, id, 'Mine')),
      window.store.write((writer) => pinLineage(writer, id, true)),
      window.store.write((writer) => updateSession(writer, id, { workspaceName: 'moved' })),
      until(() => !runtime.isRunning, 'the answer is over'),
    ]);
    await Promise.all([runtime.flush(), other.registry.archive(id)]);
    const session = other.store.read((reader) => getSession(reader, id));
    const { title, pinned, workspaceName, endReason, messageCount } = session ?? {};
    assert.deepEqual(
      { title, pinned, workspaceName, endReason, messageCount },
      { title: 'Mine', pinned: true, workspaceName: 'moved', endReason: 'archived', messageCount: 4 },
    );
    const child = other.store.read((reader) => getSession(reader, branch));
    assert.deepEqual([child?.parentId, child?.pinned, child?.endReason], [id, false, null]);
  });

  it('a chat of long messages is opened with as many as fill a few screens, and the older ones follow', async () => {
    for (const [length, shown] of [
      [1_500, 20],
      [15_000, 2],
      [16_000, 1],
      [9_000_000, 1],
    ] as const) {
      const session = aSession();
      await window.store.write((writer) => insertSession(writer, session));
      for (let index = 0; index <= shown; index++) {
        await window.store.write((writer) => {
          insertMessage(writer, aMessage(session.id, { text: 'x'.repeat(length) }));
        });
      }
      const { panel, runtime } = await show(window, session.id);
      const [snapshot] = panel.received;
      assert.ok(snapshot?.type === 'snapshot' && snapshot.chat.hasOlder);
      assert.equal(snapshot.chat.messages.length, shown);
      runtime.loadOlder(panel, snapshot.chat.messages[0]?.id ?? '');
      const older = panel.received.at(-1);
      assert.ok(older?.type === 'event' && older.event.type === 'olderLoaded');
      assert.deepEqual([older.event.messages.length, older.event.hasOlder], [1, false]);
    }
  });

  it('a chat of 5,000 messages is opened with its newest page: what the panel gets does not grow with the chat', async () => {
    const sizes: number[] = [];
    for (const count of [100, 5000]) {
      const session = aSession();
      await window.store.write((writer) => insertSession(writer, session));
      for (let first = 0; first < count; first += 100) {
        await window.store.write((writer) => {
          for (let index = first; index < first + 100; index++) {
            insertMessage(writer, aMessage(session.id, { text: `Message ${10_000 + index}` }));
          }
        });
      }
      const { panel } = await show(window, session.id);
      const [snapshot] = panel.received;
      assert.ok(snapshot?.type === 'snapshot' && snapshot.chat.messages.length === 100);
      assert.equal(snapshot.chat.messages.at(-1)?.text, `Message ${9_999 + count}`);
      sizes.push(JSON.stringify(snapshot).length);
    }
    const [page = 0, newest = 0] = sizes;
    assert.ok(newest < page * 1.02, `${newest} instead of ${page} characters`);
  });
});

function newPlace(id: string): { id: string; workspaceUri: null; workspaceName: null; modelId: null } {
  return { id, workspaceUri: null, workspaceName: null, modelId: null };
}

function listed(window: LiveWindow, workspaceUri: string | null): string[] {
  return window.store
    .read((reader) => listChats(reader, { workspaceUri, limit: 10 }))
    .map(({ session }) => session.id);
}
