import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import { PendingDeletions, undoMs } from '../../../src/core/runtime/pendingDeletions.ts';
import { getSession } from '../../../src/core/store/sessions.ts';
import { answered, running, show } from '../lifecycle/stage.ts';
import { newChat, World, type LiveWindow } from '../lifecycle/world.ts';
import { PlayedTimers } from './kit.ts';

describe('A deleted chat', function () {
  this.timeout(30_000);
  let world: World;
  let window: LiveWindow;
  beforeEach(async () => {
    world = new World();
    window = await world.start();
  });
  afterEach(() => world.close());

  const isStored = ({ store }: LiveWindow, id: string): boolean =>
    store.read((reader) => getSession(reader, id)) !== null;

  it('is gone with its runtime, its memory and its places, and its panel says so', async () => {
    const { id, panel } = await answered(window);
    panel.visible = false;
    await window.registry.delete(id);
    assert.equal(isStored(window, id), false);
    assert.equal(window.registry.size, 0);
    assert.equal(panel.reclaims, 1);
    window.store.read((reader) => {
      for (const table of ['messages', 'drafts', 'memories', 'routes', 'leases']) {
        assert.deepEqual(reader.all(`SELECT * FROM ${table}`), [], table);
      }
    });
    await assert.rejects(window.registry.openOrCreate(newChat(id)), { reason: 'deleted' });
    await window.registry.delete(id);
  });

  it('is not deleted while its answer runs, here or in another live window', async () => {
    const { id, runtime } = await running(window);
    await assert.rejects(window.registry.delete(id), { reason: 'running' });
    const other = await world.start();
    await assert.rejects(other.registry.delete(id), { reason: 'session_not_owned' });
    assert.equal(runtime.isRunning, true);
    assert.ok(isStored(window, id));
    await runtime.stop();
    await window.registry.delete(id);
    assert.equal(isStored(other, id), false);
  });

  it('is not written anew by another window that still shows it', async () => {
    const { id, runtime } = await answered(window);
    const other = await world.start();
    const { runtime: shown } = await show(other, id);
    await window.registry.delete(runtime.session.id);
    await other.settled();
    shown.setDraft({ text: 'typed', caret: 5, scroll: null, editedAt: Date.now() });
    await shown.flush();
    assert.equal(shown.state.savingProblem?.reason, 'deleted');
    await assert.rejects(shown.send(ulid(), 'Are you there?'), { reason: 'deleted' });
    assert.equal(isStored(other, id), false);
    assert.deepEqual(
      other.store.read((reader) => reader.all('SELECT key FROM drafts')),
      [],
    );
  });
});

describe('A deletion that can be taken back', () => {
  function arrange(remove: (id: string) => Promise<void> = () => Promise.resolve()) {
    const timers = new PlayedTimers();
    const removed: string[] = [];
    let changes = 0;
    const pending = new PendingDeletions({
      timers,
      remove: async (id) => {
        removed.push(id);
        await remove(id);
      },
      onChange: () => (changes += 1),
    });
    return { timers, removed, pending, changes: () => changes };
  }

  it('hides the chat at once and deletes it when the time is over', async () => {
    const { timers, removed, pending, changes } = arrange();
    pending.start('a');
    pending.start('a');
    assert.deepEqual([pending.has('a'), pending.has('b'), changes()], [true, false, 1]);
    timers.pass(undoMs - 1);
    assert.deepEqual(removed, []);
    timers.pass(1);
    assert.deepEqual(removed, ['a']);
    assert.equal(pending.has('a'), true, 'hidden while it is removed');
    assert.equal(pending.undo('a'), false);
    await new Promise(setImmediate);
    assert.deepEqual([pending.has('a'), changes()], [false, 2]);
  });

  it('deletes nothing when it was taken back, or when the window goes before', () => {
    const { timers, removed, pending } = arrange();
    pending.start('a');
    pending.start('b');
    assert.equal(pending.undo('a'), true);
    assert.equal(pending.has('a'), false);
    pending.dispose();
    timers.pass(10 * undoMs);
    assert.deepEqual(removed, []);
  });
});
