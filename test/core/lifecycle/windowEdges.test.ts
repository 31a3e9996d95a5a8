/** What a window answers about its chats, and what it says when something cannot be done. */
import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import { defaultLimits } from '../../../src/core/runtime/registry.ts';
import { endReasonSchema } from '../../../src/core/session/model.ts';
import { isAutomatic, isBoundary, isEndedByUser, isRecoverable } from '../../../src/core/session/reasons.ts';
import { Kit, newChat as newKitChat } from '../runtime/kit.ts';
import { answered, running, show } from './stage.ts';
import { until, World, type LiveWindow } from './world.ts';

describe('A window', function () {
  this.timeout(30_000);
  let world: World;
  let window: LiveWindow;
  beforeEach(async () => {
    world = new World();
    window = await world.start();
  });
  afterEach(() => world.close());

  it('keeps a chat half an hour, one without a panel 20 s, and 20 of them, unless told otherwise', () => {
    assert.deepEqual(defaultLimits, { graceMs: 20_000, idleMs: 1_800_000, maximumRuntimes: 20 });
  });

  it('knows which of its chats run and which hold unsaved words, and of others that they do not', async () => {
    const silent = await answered(window);
    const busy = await running(window);
    const told = (id: string): boolean[] => [window.registry.isRunning(id), window.registry.isUnsaved(id)];
    assert.deepEqual(
      [told(silent.id), told(busy.id), told('none')],
      [
        [false, false],
        [true, false],
        [false, false],
      ],
    );
    assert.deepEqual(
      window.registry.runningSessions().map(({ id }) => id),
      [busy.id],
    );
    world.isDiskFull = true;
    window.modelOf(busy.id).answer(' and not saved');
    await until(() => !busy.runtime.isRunning, 'the answer is over');
    await busy.runtime.flush();
    assert.deepEqual(told(busy.id), [false, true]);
    world.isDiskFull = false;
    await busy.runtime.flush();
    assert.deepEqual(told(busy.id), [false, false]);
  });

  it('says so when a chat is not there, and shows no empty one in its place', async () => {
    await assert.rejects(window.registry.open('none'), { reason: 'not_found', message: /not in the store/ });
    await assert.rejects(window.registry.archive('none'), { reason: 'nothing_to_do' });
    assert.equal(window.registry.size, 0);
  });

  it('tells every panel when what can be picked has changed', async () => {
    const { panel } = await show(window);
    panel.received.length = 0;
    window.registry.modelsChanged();
    assert.deepEqual(
      panel.received.map(({ type }) => type),
      ['models'],
    );
  });

  it('goes on following others when one chat cannot, and says which', async () => {
    const broken = await answered(window);
    const { panel, runtime } = await answered(window);
    await window.store.write((writer) =>
      writer.run(`UPDATE messages SET role = 'nonsense' WHERE session_id = ?`, [broken.id]),
    );
    const other = await world.start();
    await other.store.write((writer) =>
      writer.run(`UPDATE sessions SET title = 'Renamed' WHERE id = ?`, [runtime.session.id]),
    );
    await window.settled();
    assert.equal(panel.state?.session.title, 'Renamed');
    assert.match(window.log.join('\n'), new RegExp(`${broken.id} cannot follow`));
    await window.store.write((writer) =>
      writer.run(`UPDATE messages SET role = 'user' WHERE role = 'nonsense'`),
    );
  });
});

describe('Compacting from a window', () => {
  let kit: Kit;
  beforeEach(() => {
    kit = new Kit();
  });
  afterEach(() => kit.close());

  it('keeps a memory of the chat, and is done also when that fails', async () => {
    const window = await kit.window();
    const { runtime, viewer } = await newKitChat(window);
    await runtime.send(ulid(), 'Hello');
    kit.model.answer('Hi');
    await viewer.shows((state) => state.turn === null && state.unsaved.length === 0);
    await window.registry.compact(runtime.session.id);
    assert.deepEqual(window.memory.commits, [{ id: runtime.session.id, isChanged: true }]);
    await runtime.send(ulid(), 'Again');
    kit.model.answer('Hi again');
    await viewer.shows((state) => state.turn === null && state.messages.at(-1)?.text === 'Hi again');
    window.memory.commit = () => Promise.reject(new Error('no memory'));
    const before = runtime.session.id;
    await window.registry.compact(before);
    assert.notEqual(runtime.session.id, before);
    assert.match(window.log.join('\n'), /memory of .* not kept: no memory/);
  });
});

describe('Every reason that ends a session', () => {
  it('is in a set or not: no predicate is without an answer', () => {
    for (const reason of endReasonSchema.options) {
      for (const predicate of [isAutomatic, isBoundary, isEndedByUser, isRecoverable]) {
        assert.equal(typeof predicate(reason), 'boolean', `${predicate.name}(${reason})`);
      }
    }
  });
});
