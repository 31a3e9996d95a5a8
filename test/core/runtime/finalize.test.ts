/** The whole teardown of a runtime against a real store: what it may end, what it must spare, what it may never lose. */
import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import type { ChatRuntime } from '../../../src/core/runtime/chatRuntime.ts';
import { finalize } from '../../../src/core/runtime/finalize.ts';
import { makeMessage, makeSession, type EndReason, type Source } from '../../../src/core/session/model.ts';
import { acquireLease } from '../../../src/core/store/leases.ts';
import { insertMessage, listMessages } from '../../../src/core/store/messages.ts';
import { makeRoute, panelRouteKey, saveRoute } from '../../../src/core/store/routes.ts';
import { getSession, insertSession } from '../../../src/core/store/sessions.ts';
import { aSession } from '../store/support/values.ts';
import { Kit, newChat, RecordingViewer, type Window } from './kit.ts';

const automatic = ['panel_closed', 'orphan_reap', 'idle_timeout', 'lru_evict', 'host_shutdown'] as const;

describe('Finalizing a runtime', () => {
  let kit: Kit;
  beforeEach(() => {
    kit = new Kit();
  });
  afterEach(() => kit.close());

  it('of an empty chat writes nothing', async () => {
    const window = await kit.window();
    const before = window.store.seq;
    const { runtime } = await newChat(window);
    for (const reason of automatic) await end(window, runtime, reason);
    assert.equal(window.store.seq, before);
  });

  for (const reason of automatic) {
    it(`for ${reason} leaves a panel's row open, and all of its messages where they were`, async () => {
      const window = await kit.window();
      const { runtime } = await answered(window);
      const before = rows(window, runtime.session.id);
      await end(window, runtime, reason);
      assert.deepEqual(
        [endOf(window, runtime.session.id), rows(window, runtime.session.id)],
        [[null, null], before],
      );
      assert.equal((await window.registry.open(runtime.session.id)).session.id, runtime.session.id);
    });

    for (const source of ['cli', 'api'] as const) {
      it(`for ${reason} ends a row of ${source}`, async () => {
        const window = await kit.window();
        const runtime = await window.registry.open(await stored(window, source));
        await end(window, runtime, reason);
        assert.deepEqual(endOf(window, runtime.session.id), [reason, 7]);
      });

      it(`for ${reason} spares a row of ${source} that a panel has shown, also long ago`, async () => {
        const window = await kit.window();
        const id = await stored(window, source);
        const key = panelRouteKey(ulid());
        await window.store.write((writer) =>
          saveRoute(writer, makeRoute({ key, sessionId: id, updatedAt: 1 })),
        );
        await window.store.write((writer) => writer.run('DELETE FROM routes WHERE key = ?', [key]));
        await end(window, await window.registry.open(id), reason);
        assert.deepEqual(endOf(window, id), [null, null]);
      });
    }

    it(`for ${reason} spares a row whose lease another live window holds`, async () => {
      const window = await kit.window();
      const id = await stored(window, 'cli');
      const runtime = await window.registry.open(id);
      await leaseElsewhere(window, id);
      await end(window, runtime, reason);
      assert.deepEqual(endOf(window, id), [null, null]);
    });
  }

  it('ends a row of cli whose other holder is dead', async () => {
    const window = await kit.window({ isWindowAlive: (windowId) => windowId !== 'other' });
    const id = await stored(window, 'cli');
    const runtime = await window.registry.open(id);
    await leaseElsewhere(window, id);
    await end(window, runtime, 'idle_timeout', (windowId) => windowId !== 'other');
    assert.deepEqual(endOf(window, id), ['idle_timeout', 7]);
  });

  it('writes the turn that was under way, all four rows of it, once', async () => {
    const window = await kit.window();
    const { runtime, viewer } = await newChat(window);
    await runtime.send(ulid(), 'Look into a.ts');
    kit.model.play({ type: 'toolCall', call: { id: 'c1', name: 'read_file', arguments: '{}' } });
    kit.model.play({ type: 'finish', usage: null }, { type: 'text', text: 'It sa' });
    await viewer.shows((state) => state.messages.at(-1)?.text === 'It sa');
    await end(window, runtime, 'host_shutdown');
    assert.deepEqual(
      rows(window, runtime.session.id).map(({ seq, role, status, text }) => [seq, role, status, text]),
      [
        [1, 'user', 'complete', 'Look into a.ts'],
        [2, 'assistant', 'complete', ''],
        [3, 'tool', 'error', rows(window, runtime.session.id)[2]?.text],
        [4, 'assistant', 'interrupted', 'It sa'],
      ],
    );
  });

  it('of a chat that was opened and not used changes no row', async () => {
    const window = await kit.window();
    const { runtime } = await answered(window);
    await window.registry.shutDown();
    const again = await kit.window();
    const before = again.store.seq;
    const resumed = await again.registry.open(runtime.session.id);
    again.registry.attach(resumed, new RecordingViewer());
    await end(again, resumed, 'panel_closed');
    assert.equal(again.store.seq, before);
    assert.deepEqual(again.memory.commits, [{ id: runtime.session.id, isChanged: false }]);
  });

  it('happens once, however often it is asked for', async () => {
    const window = await kit.window();
    const runtime = await window.registry.open(await stored(window, 'cli'));
    const seen: string[] = [];
    window.hooks.onSessionFinalize(() => seen.push('finalized'));
    await Promise.all([end(window, runtime, 'idle_timeout'), end(window, runtime, 'lru_evict')]);
    await end(window, runtime, 'archived');
    assert.deepEqual([seen, endOf(window, runtime.session.id)], [['finalized'], ['idle_timeout', 7]]);
  });

  it('for Archive ends with its reason, also while another window holds the lease', async () => {
    const window = await kit.window();
    const { runtime } = await answered(window);
    await leaseElsewhere(window, runtime.session.id);
    await end(window, runtime, 'archived');
    assert.deepEqual(endOf(window, runtime.session.id), ['archived', 7]);
  });

  it('for Archive promotes over a reason of cleanup', async () => {
    const window = await kit.window();
    const id = await stored(window, 'cli');
    await end(window, await window.registry.open(id), 'idle_timeout');
    await window.registry.archive(id);
    assert.equal(endOf(window, id)[0], 'archived');
  });

  it('goes on when hooks and memory fail, and logs each', async () => {
    const window = await kit.window();
    const runtime = await window.registry.open(await stored(window, 'cli'));
    const fail = (): never => {
      throw new Error('broken');
    };
    window.hooks.onSessionEnd(fail);
    window.hooks.onSessionFinalize(fail);
    window.memory.commit = fail;
    await end(window, runtime, 'idle_timeout');
    assert.deepEqual(endOf(window, runtime.session.id), ['idle_timeout', 7]);
    assert.equal(window.log.filter((line) => line.includes('broken')).length, 3);
  });

  it('tells the hooks exactly this, also when the row is spared', async () => {
    const window = await kit.window();
    const { runtime } = await answered(window);
    const told: unknown[] = [];
    window.hooks.onSessionEnd((payload) => told.push(payload));
    window.hooks.onSessionFinalize((payload) => told.push(payload));
    window.hooks.onReclaimed((payload) => told.push(payload));
    const { id: sessionId } = runtime.session;
    await end(window, runtime, 'idle_timeout');
    assert.deepEqual(told, [
      { sessionId, completed: false, interrupted: true, model: 'played', source: 'panel' },
      { sessionId, source: 'panel' },
      { runtimeId: runtime.id, sessionId, reason: 'idle_timeout' },
    ]);
  });

  it('commits memory when there is history, and only then', async () => {
    const window = await kit.window();
    const { runtime } = await answered(window);
    const { runtime: empty } = await newChat(window);
    await end(window, empty, 'panel_closed');
    await end(window, runtime, 'panel_closed');
    assert.deepEqual(window.memory.commits, [{ id: runtime.session.id, isChanged: true }]);
  });

  it('waits for the memory of a long chat, but not for long when the window goes', async () => {
    for (const reason of ['panel_closed', 'host_shutdown'] as const) {
      const window = await kit.window();
      const { runtime } = await answered(window);
      const { promise: kept, resolve: finish } = withResolvers();
      const { promise: begun, resolve: begin } = withResolvers();
      window.memory.commit = () => {
        begin();
        return kept;
      };
      let isOver = false;
      const ended = end(window, runtime, reason).then(() => (isOver = true));
      await begun;
      window.timers.pass(5000);
      if (reason === 'host_shutdown') await ended;
      else await window.store.write((writer) => insertSession(writer, aSession()));
      assert.equal(isOver, reason === 'host_shutdown');
      finish();
      await ended;
    }
  });

  it('leaves the lease free for others', async () => {
    const window = await kit.window();
    const { runtime } = await answered(window);
    await end(window, runtime, 'panel_closed');
    const other = await kit.window();
    const again = await other.registry.open(runtime.session.id);
    assert.equal(again.state.owner, 'here');
  });

  async function answered(window: Window): Promise<{ runtime: ChatRuntime; viewer: RecordingViewer }> {
    const chat = await newChat(window);
    await chat.runtime.send(ulid(), 'Hello');
    kit.model.answer('Hi');
    await chat.viewer.shows((state) => state.turn === null && state.unsaved.length === 0);
    return chat;
  }
});

function end(
  window: Window,
  runtime: ChatRuntime,
  reason: EndReason,
  isWindowAlive: (windowId: string) => boolean = () => true,
): Promise<void> {
  const { store, hooks, memory, log } = window;
  return finalize(runtime, reason, {
    store,
    hooks,
    memory,
    now: () => 7,
    log: (line) => void log.push(line),
    isWindowAlive,
    timers: window.timers,
    rescue: null,
    remove: () => undefined,
  });
}

/** A chat of that source with one message. */
async function stored(window: Window, source: Source): Promise<string> {
  const id = ulid();
  await window.store.write((writer) => {
    insertSession(writer, makeSession({ id, source, createdAt: 1 }));
    insertMessage(
      writer,
      makeMessage({ id: ulid(), sessionId: id, seq: 1, role: 'user', createdAt: 1, text: 'x' }),
    );
  });
  return id;
}

async function leaseElsewhere(window: Window, sessionId: string): Promise<void> {
  await window.store.write((writer) => {
    writer.run('DELETE FROM leases WHERE session_id = ?', [sessionId]);
    acquireLease(writer, {
      sessionId,
      runtimeId: 'sibling',
      windowId: 'other',
      now: 2,
      isWindowAlive: () => true,
    });
  });
}

function rows(window: Window, sessionId: string) {
  return window.store.read((reader) => listMessages(reader, sessionId));
}

function endOf(window: Window, sessionId: string): [EndReason | null, number | null] {
  const session = window.store.read((reader) => getSession(reader, sessionId));
  return [session?.endReason ?? null, session?.endedAt ?? null];
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
