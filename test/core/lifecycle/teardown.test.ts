/** Edges of taking runtimes down, and of the lease that goes with them. */
import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import type { ChatEvent } from '../../../src/core/session/events.ts';
import {
  acquireLease,
  getLease,
  guardLease,
  holdsLease,
  isHeldByOther,
  moveLease,
  releaseLease,
  revokeLease,
  takeOverLease,
  type Lease,
} from '../../../src/core/store/leases.ts';
import { listMessages } from '../../../src/core/store/messages.ts';
import { getSession } from '../../../src/core/store/sessions.ts';
import { openStore } from '../store/support/stores.ts';
import { answered, running, show } from './stage.ts';
import { minute, newChat, rounds, until, World, type LiveWindow, type Panel } from './world.ts';

describe('Taking a runtime down', function () {
  this.timeout(30_000);
  let world: World;
  let window: LiveWindow;
  beforeEach(async () => {
    world = new World();
    window = await world.start();
  });
  afterEach(() => world.close());

  it('waits up to five seconds for a running answer to stop, and not at all when the window goes', async () => {
    const asked: number[] = [];
    const after = window.timers.after.bind(window.timers);
    window.timers.after = (milliseconds, run) => {
      asked.push(milliseconds);
      return after(milliseconds, run);
    };
    const { id } = await running(window);
    await window.registry.archive(id);
    assert.ok(asked.includes(5000));
    await running(window);
    asked.length = 0;
    await window.registry.shutDown();
    const waits = asked.filter((milliseconds) => milliseconds < minute);
    assert.deepEqual(
      new Set(waits),
      new Set([2000, 1000]),
      'only for the disk, and for what a summary takes',
    );
  });

  it('has stopped the answer by the time the hooks hear of it, in memory and in the store', async () => {
    const { id, runtime, panel } = await running(window);
    const told: unknown[] = [];
    window.hooks.onSessionEnd(() => {
      const row = window.store.read((reader) => listMessages(reader, id)).at(-1);
      told.push([runtime.isRunning, row?.status]);
    });
    await window.registry.shutDown();
    assert.deepEqual(told, [[false, 'interrupted']]);
    assert.deepEqual(endsIn(panel), [{ type: 'turnEnded', stopReason: 'stopped' }]);
  });

  it('stops the answer without a moment of waiting when the window goes: there may be none', async () => {
    const { id, runtime, panel } = await running(window);
    const down = window.registry.shutDown();
    const row = window.store.read((reader) => listMessages(reader, id)).at(-1);
    const last = panel.state?.messages.at(-1);
    assert.deepEqual(
      [runtime.isRunning, last?.status, last?.text, row?.status, row?.text],
      [false, 'interrupted', 'Begun', 'interrupted', 'Begun'],
    );
    assert.ok(last?.finishedAt !== null);
    await down;
  });

  it('tells a panel once of the answer that has stopped by itself in time', async () => {
    const { id, panel } = await running(window);
    await window.registry.archive(id);
    assert.deepEqual(endsIn(panel), [{ type: 'turnEnded', stopReason: 'stopped' }]);
  });

  it('for Archive is no cleanup: nobody is told that something was reclaimed', async () => {
    const { id, panel } = await answered(window);
    panel.visible = false;
    const reclaimed: string[] = [];
    window.hooks.onReclaimed(({ reason }) => reclaimed.push(reason));
    await window.registry.archive(id);
    assert.deepEqual(reclaimed, []);
    await answered(window);
    await window.registry.shutDown();
    assert.deepEqual(reclaimed, ['host_shutdown']);
  });

  it('of a chat that was never written has nothing to end and nothing to complain of', async () => {
    await show(window);
    await window.registry.shutDown();
    assert.deepEqual(window.log, []);
  });

  it('happens once for a window', async () => {
    const { panel } = await answered(window);
    panel.visible = false;
    let told = 0;
    window.hooks.onSessionFinalize(() => void told++);
    await Promise.all([window.registry.shutDown(), window.registry.shutDown()]);
    assert.deepEqual([told, window.registry.size], [1, 0]);
  });

  it('that has begun is waited for by the window that goes', async () => {
    const { runtime, panel } = await answered(window);
    let goOn: () => void = () => undefined;
    window.hooks.onSessionEnd(() => new Promise<void>((resolve) => (goOn = resolve)));
    const closing = window.registry.detach(runtime, panel, 'disposed');
    await until(() => runtime.isFinalized, 'it is being taken down');
    let isDown = false;
    const down = window.registry.shutDown().then(() => (isDown = true));
    await rounds(4);
    assert.deepEqual([isDown, window.registry.size], [false, 1]);
    goOn();
    await Promise.all([closing, down]);
    assert.equal(window.registry.size, 0);
  });

  it('leaves a panel that still holds it what needs no runtime: it is shown, and remembers the model chosen', async () => {
    const { id, runtime, panel } = await answered(window);
    await panel.leave('disposed');
    assert.deepEqual([runtime.isFinalized, window.registry.size], [true, 0]);
    window.registry.attach(runtime, panel);
    await runtime.selectModel('another');
    assert.deepEqual(
      [
        panel.state?.session.modelId,
        window.store.read((reader) => getSession(reader, id))?.modelId,
        window.registry.size,
      ],
      ['another', 'another', 0],
    );
  });

  it('gives nobody the runtime that is being taken down: who asks meanwhile waits for a new one', async () => {
    const { id, runtime, panel } = await answered(window);
    let goOn: () => void = () => undefined;
    const stop = window.hooks.onSessionEnd(() => new Promise<void>((resolve) => (goOn = resolve)));
    const closing = window.registry.detach(runtime, panel, 'disposed');
    await until(() => runtime.isFinalized, 'it is being taken down');
    const asked = window.registry.open(id);
    await rounds(4);
    stop();
    goOn();
    await closing;
    const again = await asked;
    assert.notEqual(again, runtime);
    assert.deepEqual([again.isFinalized, window.registry.size], [false, 1]);
  });

  it('tells the lists once it is gone', async () => {
    const { panel } = await answered(window);
    const sizes: number[] = [];
    window.registry.onDidChange(() => sizes.push(window.registry.size));
    await panel.leave('disposed');
    assert.equal(sizes.at(-1), 0);
  });

  it('tells the lists, and no longer those that do not listen any more', async () => {
    let told = 0;
    const stop = window.registry.onDidChange(() => void told++);
    const { panel } = await answered(window);
    assert.ok(told > 0);
    told = 0;
    await panel.leave('disposed');
    assert.ok(told > 0);
    stop();
    told = 0;
    await answered(window);
    assert.equal(told, 0);
  });

  it('archives also when the step that ends the row fails', async () => {
    const { id } = await answered(window);
    const stop = window.hooks.onSessionFinalize(() => {
      world.isDiskFull = true;
    });
    await assert.rejects(window.registry.archive(id), { reason: 'full' });
    world.isDiskFull = false;
    assert.equal(window.store.read((reader) => getSession(reader, id))?.endReason, null);
    const { id: other } = await answered(window);
    await assert.rejects(
      window.registry.archiveAndStartNew(other, 'panel:x', newChat(ulid())),
      { reason: 'full' },
      'the user learns that nothing was done',
    );
    world.isDiskFull = false;
    stop();
    await window.registry.archive(id);
    assert.equal(window.store.read((reader) => getSession(reader, id))?.endReason, 'archived');
  });

  it('waits for an answer that is about to begin', async () => {
    const { id, runtime } = await show(window);
    const sent = runtime.send(ulid(), 'Hello');
    const down = window.registry.shutDown();
    await Promise.all([sent, down]);
    await until(() => !runtime.isRunning, 'nothing runs');
    const other = await world.start();
    const texts = other.store.read((reader) => listMessages(reader, id)).map(({ text }) => text);
    assert.equal(texts[0], 'Hello');
    assert.deepEqual(window.modelOf(id).requests, [], 'it waits for who opens the chat again');
  });
});

function endsIn({ received }: Panel): ChatEvent[] {
  return received
    .flatMap((message) => (message.type === 'event' ? [message.event] : []))
    .filter(({ type }) => type === 'turnEnded');
}

describe('A lease', function () {
  this.timeout(30_000);
  const request = { sessionId: 's', runtimeId: 'r', windowId: 'w', now: 7 };
  const alive = { isWindowAlive: () => true };

  it('says who holds it since when, also after it was released', async () => {
    const store = await openStore();
    const read = (): Lease | null => store.read((reader) => getLease(reader, 's'));
    assert.equal(read(), null);
    const lease = await store.write((writer) => acquireLease(writer, { ...request, ...alive }));
    const expected = { sessionId: 's', runtimeId: 'r', windowId: 'w', epoch: 1, acquiredAt: 7 };
    assert.deepEqual(
      [lease, read()],
      [
        { ...expected, isHeld: true },
        { ...expected, isHeld: true },
      ],
    );
    await store.write((writer) => releaseLease(writer, lease));
    assert.deepEqual(read(), { ...expected, isHeld: false });
  });

  it('is refused to another runtime, also of the same window, and to the same name in another window', async () => {
    const store = await openStore();
    await store.write((writer) => acquireLease(writer, { ...request, ...alive }));
    for (const other of [{ runtimeId: 'r2' }, { windowId: 'w2' }]) {
      await assert.rejects(
        store.write((writer) => acquireLease(writer, { ...request, ...alive, ...other })),
        { reason: 'session_not_owned' },
      );
    }
  });

  it('holds for its epoch and its runtime only, and not once it is released', async () => {
    const store = await openStore();
    const holds = (lease: Lease): boolean => {
      const held = store.read((reader) => holdsLease(reader, lease));
      const guard = (): void => store.read((reader) => guardLease(reader, lease));
      if (held) guard();
      else assert.throws(guard, { reason: 'session_not_owned' });
      return held;
    };
    const first = await store.write((writer) => acquireLease(writer, { ...request, ...alive }));
    assert.deepEqual(
      [holds(first), holds({ ...first, runtimeId: 'x' }), holds({ ...first, epoch: 2 })],
      [true, false, false],
    );
    const second = await store.write((writer) => takeOverLease(writer, request));
    assert.deepEqual([second.epoch, holds(first), holds(second)], [2, false, true]);
    await store.write((writer) => releaseLease(writer, second));
    assert.equal(holds(second), false);
    assert.equal(holds({ ...second, sessionId: 'none' }), false);
  });

  it('is held by another only if that is another runtime, and alive, and has not released it', async () => {
    const store = await openStore();
    const byOther = (runtimeId: string, isAlive: boolean): boolean =>
      store.read((reader) => isHeldByOther(reader, 's', runtimeId, () => isAlive));
    assert.equal(byOther('x', true), false);
    const lease = await store.write((writer) => acquireLease(writer, { ...request, ...alive }));
    assert.deepEqual([byOther('r', true), byOther('x', true), byOther('x', false)], [false, true, false]);
    await store.write((writer) => releaseLease(writer, lease));
    assert.equal(byOther('x', true), false);
  });

  it('that is not stored any more is released without complaint, as when its chat was deleted', async () => {
    const store = await openStore();
    const lease = await store.write((writer) => acquireLease(writer, { ...request, ...alive }));
    await store.write((writer) => {
      writer.run('DELETE FROM leases');
      releaseLease(writer, lease);
    });
    assert.equal(
      store.read((reader) => getLease(reader, 's')),
      null,
    );
  });

  it('is revoked from whoever holds it, but not from the one that keeps it', async () => {
    const store = await openStore();
    const revoke = (keep: Lease | null): Promise<boolean> =>
      store.write((writer) => revokeLease(writer, 's', keep));
    assert.equal(await revoke(null), false);
    const lease = await store.write((writer) => acquireLease(writer, { ...request, ...alive }));
    assert.equal(await revoke(lease), false);
    assert.equal(
      store.read((reader) => holdsLease(reader, lease)),
      true,
    );
    for (const other of [{ sessionId: 'x' }, { epoch: 9 }, { runtimeId: 'x' }]) {
      const held = await store.write((writer) => takeOverLease(writer, request));
      assert.equal(await revoke({ ...held, ...other }), true, JSON.stringify(other));
      assert.equal(
        store.read((reader) => holdsLease(reader, held)),
        false,
      );
    }
    assert.equal(await revoke(null), false, 'nobody holds it any more');
  });

  it('moves with the chat only from its holder, and counts on where it goes', async () => {
    const store = await openStore();
    const lease = await store.write((writer) => acquireLease(writer, { ...request, ...alive }));
    const moved = await store.write((writer) => moveLease(writer, lease, 'child', 8));
    assert.deepEqual(moved, { ...lease, sessionId: 'child', acquiredAt: 8 });
    await assert.rejects(
      store.write((writer) => moveLease(writer, lease, 'other', 9)),
      { reason: 'session_not_owned' },
    );
    const back = await store.write((writer) => moveLease(writer, moved, 's', 9));
    assert.equal(back.epoch, 2);
  });
});
