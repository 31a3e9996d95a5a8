import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import { getSession } from '../../../src/core/store/sessions.ts';
import { until } from '../lifecycle/world.ts';
import { Kit } from './kit.ts';

describe('A chat that a program made', function () {
  this.timeout(30_000);

  it('is given back after its answer also when the grace time ended while the prompt was being stored', async () => {
    const kit = new Kit();
    const window = await kit.window();
    const place = { workspaceUri: null, workspaceName: null, modelId: null };
    const runtime = await window.registry.openOrCreate({ id: ulid(), source: 'api', ...place });
    await runtime.own();
    runtime.readSessionAgain(); // a change, which starts the grace time of a runtime that nothing shows
    const sending = runtime.send(ulid(), 'Hello');
    window.timers.pass(20_000);
    await sending;
    kit.model.answer('Hi');
    await runtime.answered();
    assert.equal(window.registry.size, 1);
    window.timers.pass(20_000);
    await until(() => window.registry.size === 0, 'it is given back');
    await kit.close();
  });

  it('is named by it, needs no viewer, and is ended by cleanup until a panel has shown it', async () => {
    const kit = new Kit();
    const window = await kit.window();
    const place = { workspaceUri: null, workspaceName: null, modelId: null };
    const chat = { id: ulid(), source: 'api' as const, title: 'Mine', ...place };
    const runtime = await window.registry.openOrCreate(chat);
    await runtime.own();
    assert.equal(await runtime.answered(), null, 'nothing was asked yet');
    await runtime.send(ulid(), 'Hello');
    kit.model.answer('Hi');
    assert.equal(await runtime.answered(), 'complete');
    const stored = window.store.read((reader) => getSession(reader, chat.id));
    assert.deepEqual([stored?.source, stored?.title, stored?.titleSource], ['api', 'Mine', 'user']);
    window.timers.pass(20_000);
    await until(() => window.registry.size === 0, 'it is given back');
    assert.equal(window.store.read((reader) => getSession(reader, chat.id))?.endReason, 'orphan_reap');
    await kit.close();
  });
});
