import assert from 'node:assert/strict';
import { DraftKeeper } from '../../../src/core/runtime/draftKeeper.ts';
import { emptyDraft, type Draft } from '../../../src/core/session/model.ts';

describe('What is typed', () => {
  it('waits on after a write that failed, and the next flush writes it', async () => {
    const written: string[] = [];
    const answers = [false, true];
    const keeper = new DraftKeeper(emptyDraft, async ({ text }: Draft) => {
      written.push(text);
      return answers.shift() ?? true;
    });
    keeper.set({ text: 'Words', caret: 5, scroll: null, editedAt: 1 });
    await keeper.flush();
    await keeper.flush();
    await keeper.flush();
    keeper.dispose();
    assert.deepEqual(written, ['Words', 'Words']);
  });

  it('is never replaced by an older copy, nor kept once it was sent', async () => {
    const written: string[] = [];
    const keeper = new DraftKeeper(emptyDraft, async ({ text }: Draft) => written.push(text) > 0);
    keeper.set({ text: 'New', caret: 3, scroll: null, editedAt: 20 });
    keeper.set({ text: 'Old', caret: 3, scroll: null, editedAt: 10 });
    assert.equal(keeper.current.text, 'New');
    keeper.stored(keeper.emptied(5));
    keeper.set({ text: 'New', caret: 3, scroll: null, editedAt: 20 });
    await keeper.flush();
    assert.deepEqual([keeper.current.text, written], ['', []]);
  });

  it('is not replaced by looking around in a second, empty panel; with the same words the place is taken', async () => {
    const keeper = new DraftKeeper(emptyDraft, () => Promise.resolve(true));
    keeper.set({ text: 'Words', caret: 5, scroll: null, editedAt: 20 });
    keeper.set({ text: '', caret: 0, scroll: 300, editedAt: 0 });
    assert.deepEqual(keeper.current, { text: 'Words', caret: 5, scroll: null, editedAt: 20 });
    keeper.set({ text: 'Words', caret: 2, scroll: 100, editedAt: 10 });
    assert.deepEqual(keeper.current, { text: 'Words', caret: 2, scroll: 100, editedAt: 20 });
    // Sent meanwhile: the page does not know the host's time of that, and its place counts all the same.
    keeper.stored(keeper.emptied(50));
    keeper.set({ text: '', caret: 0, scroll: 40, editedAt: 30 });
    await keeper.flush();
    assert.deepEqual(keeper.current, { text: '', caret: 0, scroll: 40, editedAt: 50 });
  });
});
