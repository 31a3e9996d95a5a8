/** What a prompt does to its chat besides being stored: title, model, composer. */
import assert from 'node:assert/strict';
import { offlineGuideId } from '../../../src/core/models/offlineGuide.ts';
import { storePrompt, titledBy, type Titled } from '../../../src/core/runtime/prompt.ts';
import { emptyDraft, type Session } from '../../../src/core/session/model.ts';
import { getDraft } from '../../../src/core/store/drafts.ts';
import { getSession, insertSession } from '../../../src/core/store/sessions.ts';
import { openStore, textsOf } from '../store/support/stores.ts';
import { aMessage, aSession } from '../store/support/values.ts';

describe('A prompt', () => {
  const titled: Titled = { title: 'Oil the chain', titleSource: 'auto' };
  const draft = { ...emptyDraft, text: 'typed since', editedAt: 7 };

  /** Of the chat as it is in the store when the prompt comes. */
  async function stored(
    chat: Partial<Session>,
    prompt: { titled?: Titled | null; modelId?: string } = {},
  ): Promise<unknown[]> {
    const store = await openStore();
    const session = aSession({ id: 'chat', ...chat });
    const message = aMessage('chat', { text: 'Oil the chain' });
    await store.write((writer) => {
      insertSession(writer, session);
      storePrompt(writer, { message, titled, modelId: offlineGuideId, draft, ...prompt });
    });
    assert.deepEqual(textsOf(store, 'chat'), ['Oil the chain']);
    assert.deepEqual(store.read((reader) => getDraft(reader, 'chat'))?.draft, draft);
    const { title, titleSource, modelId } = store.read((reader) => getSession(reader, 'chat')) ?? {};
    return [title, titleSource, modelId];
  }

  it('titles a chat that has no title, with its first words', async () => {
    const untitled = { title: '', titleSource: 'none' } as const;
    assert.deepEqual(titledBy('Oil the chain\nand the rest', untitled), titled);
    assert.equal(titledBy('word '.repeat(50), untitled)?.title.length, 60);
    assert.equal(titledBy(' \n ', untitled), null);
    for (const titleSource of ['auto', 'user'] as const)
      assert.equal(titledBy('Oil the chain', { titleSource }), null);
    assert.deepEqual(await stored(untitled), ['Oil the chain', 'auto', null]);
    assert.deepEqual(await stored(untitled, { titled: null }), ['', 'none', null]);
  });

  it('leaves the title that another window has given meanwhile', async () => {
    const chat = { title: 'Renamed', titleSource: 'user' } as const;
    assert.deepEqual(await stored(chat), ['Renamed', 'user', null]);
  });

  it('binds the chat to the model that is asked, unless that is the offline guide or it is bound already', async () => {
    const chat = { title: 'T', titleSource: 'user' } as const;
    assert.deepEqual(await stored(chat, { modelId: 'large' }), ['T', 'user', 'large']);
    assert.deepEqual(await stored({ ...chat, modelId: 'small' }, { modelId: 'large' }), [
      'T',
      'user',
      'small',
    ]);
    assert.deepEqual(await stored({ ...chat, modelId: 'small' }), ['T', 'user', 'small']);
  });
});
