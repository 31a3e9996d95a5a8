import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import { compactSession } from '../../../src/core/runtime/compaction.ts';
import { DigestMemory } from '../../../src/core/runtime/memory.ts';
import { acquireLease } from '../../../src/core/store/leases.ts';
import { listMemories, saveMemory } from '../../../src/core/store/memories.ts';
import { insertMessage } from '../../../src/core/store/messages.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { openStore } from '../store/support/stores.ts';
import { aMessage, aSession } from '../store/support/values.ts';

describe('The memory of a chat', function () {
  this.timeout(30_000);
  let now = 3_000;
  const memories = (store: Store): object[] =>
    store
      .read((reader) => listMemories(reader, 'w'))
      .map(({ text, sourceSessionId, createdAt, updatedAt }) => ({
        text,
        sourceSessionId,
        createdAt,
        updatedAt,
      }));

  async function arrange(): Promise<{ store: Store; memory: DigestMemory }> {
    now = 3_000;
    const store = await openStore();
    await store.write((writer) => {
      insertSession(writer, aSession({ id: 'a', workspaceUri: 'w' }));
      insertSession(writer, aSession({ id: 'empty', workspaceUri: 'w' }));
      insertMessage(writer, aMessage('a', { text: 'Fix the brakes' }));
    });
    return { store, memory: new DigestMemory(store, () => now) };
  }

  it('is kept once: the same again writes nothing, more of the chat replaces it', async () => {
    const { store, memory } = await arrange();
    await memory.commit('a', true);
    const first = {
      text: 'Goal:\n- Fix the brakes',
      sourceSessionId: 'a',
      createdAt: 3_000,
      updatedAt: 3_000,
    };
    assert.deepEqual(memories(store), [first]);
    const { seq } = store;
    now = 4_000;
    await memory.commit('a', true);
    assert.equal(store.seq, seq);
    await store.write((writer) => insertMessage(writer, aMessage('a', { role: 'assistant', text: 'Done' })));
    await memory.commit('a', true);
    const text = 'Goal:\n- Fix the brakes\n\nLast state:\n- Assistant: Done';
    assert.deepEqual(memories(store), [{ ...first, text, updatedAt: 4_000 }]);
  });

  it('of a chat that was only looked at is made if it is missing or older than the chat, else nothing is read', async () => {
    const { store, memory } = await arrange();
    await memory.commit('a', false);
    const first = { text: 'Goal:\n- Fix the brakes', sourceSessionId: 'a', createdAt: 3_000 };
    assert.deepEqual(memories(store), [{ ...first, updatedAt: 3_000 }]);
    // As a window would leave it that died after it wrote; and one whose clock was set back.
    const say = (text: string, createdAt: number): Promise<unknown> =>
      store.write((writer) => insertMessage(writer, aMessage('a', { role: 'assistant', text, createdAt })));
    await say('Later', 5_000);
    await memory.commit('a', false);
    const later = { ...first, text: `${first.text}\n\nLast state:\n- Assistant: Later` };
    assert.deepEqual(memories(store), [{ ...later, updatedAt: 5_000 }]);
    await say('Earlier', 4_500);
    await memory.commit('a', false);
    assert.deepEqual(memories(store), [{ ...later, updatedAt: 5_000 }]);
    await memory.commit('a', true);
    const earlier = { ...first, text: `${first.text}\n\nLast state:\n- Assistant: Earlier` };
    assert.deepEqual(memories(store), [{ ...earlier, updatedAt: 5_000 }]);
  });

  it('of a long chat is made while others run', async () => {
    const { store, memory } = await arrange();
    const long = 'We decided to keep the brakes. Nothing else was said about it here. '.repeat(4000);
    for (let count = 0; count < 20; count++) {
      await store.write((writer) => insertMessage(writer, aMessage('a', { text: `${count} ${long}` })));
    }
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await memory.commit('a', true);
    isOver = true;
    assert.ok(turns > 5, `others ran ${turns} times`);
    assert.equal(memories(store).length, 1);
  });

  it('is one for the whole chat, through a compaction', async () => {
    const { store, memory } = await arrange();
    await memory.commit('a', true);
    await store.write((writer) => {
      const request = { sessionId: 'a', runtimeId: 'r', windowId: 'w', now, isWindowAlive: () => true };
      const lease = acquireLease(writer, request);
      compactSession(writer, { sessionId: 'a', lease, childId: 'b', newId: ulid, now });
    });
    const { seq } = store;
    await memory.commit('b', true);
    assert.equal(store.seq, seq, 'nothing new was said');
    await store.write((writer) => insertMessage(writer, aMessage('b', { text: 'And the lights' })));
    await memory.commit('b', true);
    assert.deepEqual(memories(store), [
      {
        text: 'Goal:\n- Fix the brakes\n- And the lights',
        sourceSessionId: 'b',
        createdAt: 3_000,
        updatedAt: 3_000,
      },
    ]);
  });

  it('is nothing for a chat that is empty or not stored, and leaves what was written by hand', async () => {
    const { store, memory } = await arrange();
    const own = {
      id: 'own',
      workspaceUri: 'w',
      text: 'Mine',
      sourceSessionId: null,
      createdAt: 1,
      updatedAt: 1,
    };
    await store.write((writer) => saveMemory(writer, own));
    const { seq } = store;
    await memory.commit('empty', true);
    await memory.commit('none', true);
    assert.equal(store.seq, seq);
    await memory.commit('a', true);
    assert.equal(memories(store).length, 2);
  });
});
