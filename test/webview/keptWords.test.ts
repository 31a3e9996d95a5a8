import assert from 'node:assert/strict';
import type { Draft } from '../../src/core/session/model.ts';
import { makePrompt, makeTestSession, makeTranscript } from '../support/page/builders.ts';
import type { OpenOptions, PanelPage } from '../support/page/panelPage.ts';
import { pageSuite } from '../support/page/suite.ts';
import { until } from '../support/vscode/until.ts';

const messages = makeTranscript(2);
const makeDraft = (text: string, editedAt: number): Draft => ({
  text,
  caret: text.length,
  scroll: null,
  editedAt,
});

/** What all panels of the extension see of each other. */
function stored(panel: PanelPage): Promise<readonly (readonly [string, string])[]> {
  return panel.page.evaluate(() => Object.entries(localStorage));
}

function store(panel: PanelPage, draft: Draft, sessionId = 'session-1'): Promise<void> {
  return panel.page.evaluate(([key, value]) => localStorage.setItem(key, value), [
    `holdfast.draft/${sessionId}`,
    JSON.stringify(draft),
  ] as const);
}

const hasText = (panel: PanelPage, text: string) =>
  until(async () => (await panel.message.inputValue()) === text, { what: `the composer to hold "${text}"` });

describe('Words outlive the host and the page', () => {
  const suite = pageSuite();

  /** A page whose host is dead: it took the prompts and drafts and kept nothing. */
  async function openZombie(): Promise<PanelPage> {
    const zombie = await suite.open({ messages });
    await zombie.article('m2').waitFor();
    zombie.host.answersReady = false;
    zombie.host.answersPings = false;
    return zombie;
  }

  /** The panel that replaces it in the next host: another panel id, no state, the same chat. */
  function replace(zombie: PanelPage, options: OpenOptions = {}): Promise<PanelPage> {
    return suite.open({ messages, panelId: 'panel-2', beside: zombie, ...options });
  }

  it('hands typed words over to the panel that replaces the page', async () => {
    const zombie = await openZombie();
    await zombie.message.pressSequentially('typed into the void');
    const panel = await replace(zombie, { draft: makeDraft('typed', 5) });
    await zombie.page.close();
    await panel.article('m2').waitFor();
    await hasText(panel, 'typed into the void');
    const told = await until(
      () => panel.host.posted('draft').find(({ draft }) => draft.text === 'typed into the void'),
      { what: 'the next host to be told' },
    );
    assert.ok(told.draft.editedAt > 5);
  });

  it('keeps what was typed before it noticed that the host is dead, then is read-only', async () => {
    const zombie = await suite.open({ messages, prepare: ({ page }) => page.clock.install() });
    await zombie.article('m2').waitFor();
    zombie.host.answersPings = false;
    await zombie.message.fill('typed too late');
    await zombie.page.clock.runFor(10_000);
    await zombie.notice('Holdfast is starting again').waitFor();
    assert.equal(await zombie.message.evaluate((element) => element.hasAttribute('readonly')), true);
    const panel = await replace(zombie);
    await hasText(panel, 'typed too late');
  });

  it('takes what the old page wrote while the new one was starting', async () => {
    const zombie = await openZombie();
    const panel = await replace(zombie, {
      prepare: ({ host }) => {
        host.answersReady = false;
      },
    });
    await panel.message.waitFor();
    await zombie.message.fill('the last words');
    await panel.host.deliver(panel.host.snapshot());
    await hasText(panel, 'the last words');
  });

  it('gives prompts back that the dead host did not take, oldest first', async () => {
    const zombie = await openZombie();
    await zombie.page.evaluate(() => {
      localStorage.setItem('holdfast.prompt/session-1/01B', 'second');
      localStorage.setItem('holdfast.prompt/session-1/01A', 'first');
    });
    await zombie.message.fill('third');
    const panel = await replace(zombie);
    await hasText(panel, 'first\n\nsecond\n\nthird');
    assert.deepEqual(
      (await stored(panel)).map(([key]) => key),
      ['holdfast.draft/session-1'],
    );
    assert.deepEqual(panel.host.posted('send'), []);
  });

  it('lets go of a prompt that the host had taken', async () => {
    const zombie = await openZombie();
    await zombie.message.fill('taken');
    await until(() => zombie.send.isEnabled(), { what: 'Send to be enabled' });
    await zombie.message.press('Enter');
    const { messageId, text } = await zombie.host.waitForPost('send');
    const prompt = makePrompt({ id: messageId, seq: 3, text });
    const panel = await replace(zombie, { messages: [...messages, prompt] });
    await panel.article(messageId).waitFor();
    assert.deepEqual([await panel.message.inputValue(), await stored(panel)], ['', []]);
  });

  it('lets a text go that was sent or emptied elsewhere later', async () => {
    const first = await openZombie();
    await store(first, makeDraft('sent long ago', 100));
    const panel = await replace(first, { draft: makeDraft('', 200) });
    await panel.article('m2').waitFor();
    await until(async () => (await stored(panel)).length === 0, { what: 'the copy to go' });
    assert.equal(await panel.message.inputValue(), '');
  });

  it('takes the newest of webview state, host and storage', async () => {
    const state = {
      panelId: 'panel-2',
      sessionId: 'session-1',
      draft: makeDraft('of the state', 20),
    };
    const first = await openZombie();
    for (const [storedAt, hostAt, expected] of [
      [30, 10, 'of the storage'],
      [10, 30, 'of the host'],
      [10, 15, 'of the state'],
    ] as const) {
      await store(first, makeDraft('of the storage', storedAt));
      const panel = await replace(first, {
        draft: makeDraft('of the host', hostAt),
        prepare: ({ page }) =>
          page.addInitScript((json) => sessionStorage.setItem('state', json), JSON.stringify(state)),
      });
      await panel.article('m2').waitFor();
      await hasText(panel, expected);
      await panel.page.close();
    }
  });

  it('keeps nothing when there is nothing to keep', async () => {
    const panel = await suite.open({ messages });
    await panel.article('m2').waitFor();
    await panel.message.fill('words');
    assert.equal((await stored(panel)).length, 1);
    await panel.message.fill('');
    assert.deepEqual(await stored(panel), []);
    await panel.message.fill('a prompt');
    await until(() => panel.send.isEnabled(), { what: 'Send to be enabled' });
    await panel.message.press('Enter');
    const { messageId, text } = await panel.host.waitForPost('send');
    assert.deepEqual(await stored(panel), [[`holdfast.prompt/session-1/${messageId}`, 'a prompt']]);
    await panel.host.emit({
      type: 'messageAdded',
      message: makePrompt({ id: messageId, seq: 3, text }),
    });
    await panel.page.locator(`[data-message-id="${messageId}"][data-status="complete"]`).waitFor();
    assert.deepEqual(await stored(panel), []);
  });

  it('keeps the words of each chat apart, and lets them follow a compacted one', async () => {
    const first = await suite.open({ messages });
    await first.article('m2').waitFor();
    await first.message.fill('words');
    const other = await suite.open({
      sessionId: 'session-2',
      panelId: 'panel-2',
      beside: first,
      chat: { session: makeTestSession({ id: 'session-2' }) },
    });
    await other.page.locator('.welcome').waitFor();
    assert.equal(await other.message.inputValue(), '');
    const child = makeTestSession({ id: 'child', parentId: 'session-1', edge: 'compaction' });
    await first.host.emit({ type: 'sessionChanged', session: child });
    await until(async () => (await stored(first))[0]?.[0] === 'holdfast.draft/child', {
      what: 'the words to go with the chat',
    });
    const late = await suite.open({
      sessionId: 'child',
      panelId: 'panel-3',
      beside: first,
      chat: { session: child },
    });
    await hasText(late, 'words');
  });

  it('puts words typed before the chat was known behind those that the chat had', async () => {
    const first = await openZombie();
    await store(first, makeDraft('words of the chat', 50));
    const panel = await replace(first, { sessionId: '', choices: [] });
    await panel.button('New Chat').waitFor();
    await panel.message.fill('typed meanwhile');
    await panel.host.deliver(panel.host.snapshot());
    await hasText(panel, 'words of the chat\n\ntyped meanwhile');
  });

  it('finds its words in a panel that shows another chat than it was made with', async () => {
    const panel = await suite.open({ messages });
    await panel.article('m2').waitFor();
    panel.host.state = { ...panel.host.state, session: makeTestSession({ id: 'other' }) };
    panel.host.runtimeId = 'runtime-2';
    await panel.host.deliver(panel.host.snapshot());
    await panel.message.fill('for the other chat');
    await panel.host.waitForPost('draft');
    panel.host.draft = makeDraft('', 0);
    await panel.page.evaluate(() => localStorage.clear());
    await panel.page.reload();
    await panel.article('m2').waitFor();
    await hasText(panel, 'for the other chat');
  });

  it('forgets every word of a deleted chat, and of no other: when it is told, and when it begins', async () => {
    const first = await openZombie();
    await store(first, makeDraft('of a chat that stays', 50));
    await store(first, makeDraft('of a deleted chat', 50), 'deleted');
    await first.page.evaluate(() => {
      localStorage.setItem('holdfast.prompt/deleted/01A', 'a prompt of it');
      localStorage.setItem('holdfast.edit/deleted/01B', JSON.stringify({ text: 'an edit', isOpen: true }));
      localStorage.setItem('of something else', 'deleted');
    });
    const panel = await replace(first);
    const { sessionIds } = await panel.host.waitForPost('keptWords');
    assert.deepEqual([...sessionIds].sort(), ['deleted', 'session-1']);
    await panel.host.deliver({ type: 'forgetWords', sessionIds: ['deleted'] });
    await until(
      async () =>
        (await stored(panel)).every(([key]) => !key.startsWith('holdfast.') || !key.includes('deleted')),
      { what: 'the words to be forgotten' },
    );
    const keys = (await stored(panel)).map(([key]) => key).sort();
    assert.deepEqual(keys, ['holdfast.draft/session-1', 'of something else']);
  });

  const brokenStorages = {
    forbidden: `Object.defineProperty(window, 'localStorage', {
      get: () => { throw new DOMException('The operation is insecure.', 'SecurityError'); },
    });`,
    full: `const { setItem } = Storage.prototype;
      Storage.prototype.setItem = function (key, value) {
        if (key.startsWith('holdfast')) throw new DOMException('Full.', 'QuotaExceededError');
        setItem.call(this, key, value);
      };`,
  };
  for (const [name, breakStorage] of Object.entries(brokenStorages)) {
    it(`types and sends with storage that is ${name}`, async () => {
      const panel = await suite.open({
        messages,
        prepare: ({ page }) => page.addInitScript({ content: breakStorage }),
      });
      await panel.article('m2').waitFor();
      await panel.message.fill('still works');
      await until(() => panel.send.isEnabled(), { what: 'Send to be enabled' });
      await panel.message.press('Enter');
      assert.equal((await panel.host.waitForPost('send')).text, 'still works');
      await hasText(panel, '');
    });
  }
});
