import assert from 'node:assert/strict';
import { SmallMemory } from '../../src/extension/smallMemory.ts';

describe("The editor's own memory", () => {
  it('takes small facts only, and keeps what was there when it is asked to take more (B54)', async () => {
    const kept = new Map<string, unknown>();
    const memory = new SmallMemory({
      keys: () => [...kept.keys()],
      get: (name: string) => kept.get(name),
      update: (name: string, value: unknown) => Promise.resolve(void kept.set(name, value)),
    });
    await memory.set('folders', ['one']);
    await assert.rejects(memory.set('folders', ['x'.repeat(100_000)]), /too many to be remembered/);
    assert.deepEqual(memory.get('folders'), ['one']);
  });
});
