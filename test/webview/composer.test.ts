import assert from 'node:assert/strict';
import * as v from 'valibot';
import { pageStateSchema } from '../../src/core/protocol/pageMessages.ts';
import { makePrompt, makeTranscript, startAnswer } from '../support/page/builders.ts';
import type { PanelPage } from '../support/page/panelPage.ts';
import { pageSuite } from '../support/page/suite.ts';
import { until } from '../support/vscode/until.ts';

/** What an input method does, as the browser reports it: all in one tick, in this order. */
type Step = readonly [type: string, init?: Readonly<Record<string, unknown>>];

async function dispatch(panel: PanelPage, steps: readonly Step[]): Promise<void> {
  await panel.message.evaluate((element, list) => {
    for (const [type, init = {}] of list) {
      const isKey = type.startsWith('key');
      const options = { bubbles: true, cancelable: true, ...init };
      element.dispatchEvent(isKey ? new KeyboardEvent(type, options) : new CompositionEvent(type, options));
    }
  }, steps);
}

/** A later message of the page proves that nothing was sent before it. */
async function assertNotSent(panel: PanelPage): Promise<void> {
  const drafts = panel.host.posted('draft').length;
  await panel.message.press('End');
  await panel.message.pressSequentially('!');
  await panel.host.waitForPost('draft', drafts + 1);
  assert.deepEqual(panel.host.posted('send'), []);
}

describe('The composer', () => {
  const suite = pageSuite();

  it('sends with Enter and breaks the line with Shift+Enter', async () => {
    const panel = await suite.open();
    await panel.message.pressSequentially('one');
    await panel.message.press('Shift+Enter');
    await panel.message.pressSequentially('two');
    await until(() => panel.send.isEnabled(), { what: 'Send to be enabled' });
    await panel.message.press('Enter');
    assert.equal((await panel.host.waitForPost('send')).text, 'one\ntwo');
    await until(async () => (await panel.message.inputValue()) === '', { what: 'an empty composer' });
  });

  it('is empty before the next key can arrive', async () => {
    const panel = await suite.open();
    await panel.message.fill('sent');
    await until(() => panel.send.isEnabled(), { what: 'Send to be enabled' });
    const left = await panel.message.evaluate((element) => {
      element.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
      return element instanceof HTMLTextAreaElement ? element.value : 'no text box';
    });
    assert.equal(left, '');
    assert.equal((await panel.host.waitForPost('send')).text, 'sent');
  });

  it('does not send blank text', async () => {
    const panel = await suite.open();
    await panel.message.fill('  \n ');
    await panel.message.press('Enter');
    assert.equal(await panel.send.isDisabled(), true);
    await assertNotSent(panel);
  });

  const enters: readonly (readonly [string, readonly Step[]])[] = [
    ['while composing', [['compositionstart'], ['keydown', { key: 'Enter', isComposing: true }]]],
    ['with key code 229', [['keydown', { key: 'Enter', keyCode: 229 }]]],
    [
      'that follows the end of composing in the same tick',
      [['compositionstart'], ['compositionend'], ['keydown', { key: 'Enter', keyCode: 13 }]],
    ],
  ];
  for (const [name, steps] of enters) {
    it(`leaves Enter to the input method ${name}`, async () => {
      const panel = await suite.open();
      await panel.message.fill('にほんご');
      await until(() => panel.send.isEnabled(), { what: 'Send to be enabled' });
      await dispatch(panel, steps);
      await dispatch(panel, [['compositionend']]);
      await assertNotSent(panel);
    });
  }

  it('sends with the next Enter after composing', async () => {
    const panel = await suite.open();
    await panel.message.fill('日本語');
    await until(() => panel.send.isEnabled(), { what: 'Send to be enabled' });
    await dispatch(panel, [['compositionstart'], ['compositionend']]);
    await panel.message.press('Enter');
    assert.equal((await panel.host.waitForPost('send')).text, '日本語');
  });

  it('stops with Esc, but not while an input method composes', async () => {
    const panel = await suite.open({ messages: makeTranscript(1) });
    await panel.article('m1').waitFor();
    await panel.host.emit(...startAnswer('a1', 2));
    await panel.stop.waitFor();
    await dispatch(panel, [
      ['compositionstart'],
      ['keydown', { key: 'Escape', isComposing: true }],
      ['keydown', { key: 'Escape', keyCode: 229 }],
      ['compositionend'],
      ['keydown', { key: 'Escape' }],
    ]);
    assert.deepEqual(panel.host.posted('stop'), []);
    await panel.message.press('Escape');
    await panel.host.waitForPost('stop');
  });

  it('recalls earlier prompts in an empty box and gives the draft back', async () => {
    const panel = await suite.open({ messages: makeTranscript(4) });
    await panel.article('m4').waitFor();
    const press = async (key: string) => {
      await panel.message.press(key);
      return panel.message.inputValue();
    };
    const walk: string[] = [];
    for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowDown', 'ArrowDown'])
      walk.push(await press(key));
    assert.deepEqual(walk, [
      'Message number 3',
      'Message number 1',
      'Message number 1',
      'Message number 3',
      '',
    ]);
    await panel.message.fill('a draft');
    assert.deepEqual([await press('ArrowUp'), await press('ArrowDown')], ['a draft', 'a draft']);
  });

  it('gives every input to the host and to the webview state at once', async () => {
    const panel = await suite.open();
    await panel.message.pressSequentially('abc');
    await until(() => panel.host.posted('draft').at(-1)?.draft.text === 'abc', { what: 'the draft' });
    const texts = panel.host.posted('draft').map(({ draft }) => draft.text);
    assert.deepEqual(texts.slice(0, 3), ['a', 'ab', 'abc']);
    const kept = v.parse(
      pageStateSchema,
      await panel.page.evaluate("JSON.parse(sessionStorage.getItem('state'))"),
    );
    assert.deepEqual(
      [kept.panelId, kept.sessionId, kept.draft.text, kept.draft.caret],
      ['panel-1', 'session-1', 'abc', 3],
    );
  });

  it('puts a refused prompt back, in front of what was typed since', async () => {
    const panel = await suite.open();
    await panel.message.fill('first');
    await until(() => panel.send.isEnabled(), { what: 'Send to be enabled' });
    await panel.message.press('Enter');
    const { messageId } = await panel.host.waitForPost('send');
    await panel.message.fill('second');
    const problem = { reason: 'disk_full', message: 'The disk is full.' };
    await panel.host.deliver({ type: 'sendRejected', messageId, problem, canSendAnyway: false });
    await panel.notice('The disk is full.').waitFor();
    assert.equal(await panel.message.inputValue(), 'first\n\nsecond');
    assert.equal(await panel.article(messageId).count(), 0);
  });

  it('offers to send all the same what only cannot be saved now', async () => {
    const panel = await suite.open();
    await panel.message.fill('urgent');
    await until(() => panel.send.isEnabled(), { what: 'Send to be enabled' });
    await panel.message.press('Enter');
    const { messageId, evenUnsaved } = await panel.host.waitForPost('send');
    const problem = { reason: 'full', message: 'The disk is full.' };
    await panel.host.deliver({ type: 'sendRejected', messageId, problem, canSendAnyway: true });
    await panel.button('Send anyway').click();
    const again = await panel.host.waitForPost('send', 2);
    assert.deepEqual([evenUnsaved, again.evenUnsaved, again.text], [false, true, 'urgent']);
    assert.notEqual(again.messageId, messageId);
    await panel.button('Send anyway').waitFor({ state: 'detached' });
    assert.equal(await panel.message.inputValue(), '');
  });

  it('says once why nothing can be saved, and that the prompt can be sent when it can be', async () => {
    const panel = await suite.open();
    await panel.message.fill('urgent');
    await until(() => panel.send.isEnabled(), { what: 'Send to be enabled' });
    await panel.message.press('Enter');
    const { messageId } = await panel.host.waitForPost('send');
    const problem = { reason: 'read_only', message: 'The folder cannot be written to.' };
    await panel.host.deliver({ type: 'sendRejected', messageId, problem, canSendAnyway: true });
    await panel.host.emit({ type: 'savingChanged', problem });
    await panel.notice('This was not sent, because').waitFor();
    assert.equal(await panel.notice('The folder cannot be written to.').count(), 1);
    await panel.host.emit({ type: 'savingChanged', problem: null });
    await panel.notice('The chat can be saved again.').waitFor();
    assert.equal(await panel.button('Send anyway').count(), 0);
    assert.equal(await panel.message.inputValue(), 'urgent');
  });

  it('keeps the text while an answer runs, and says why it is not sent', async () => {
    const panel = await suite.open({ messages: makeTranscript(1) });
    await panel.article('m1').waitFor();
    await panel.host.emit(...startAnswer('a1', 2));
    await panel.stop.waitFor();
    await panel.message.fill('next');
    await panel.message.press('Enter');
    await panel.notice('The answer is still running').waitFor();
    assert.equal(await panel.message.inputValue(), 'next');
    assert.equal(await panel.send.isDisabled(), true);
    assert.deepEqual(panel.host.posted('send'), []);
  });

  it('grows to 40 % of the panel and no further', async () => {
    const panel = await suite.open({ height: 700 });
    const height = () => panel.message.evaluate((element) => element.getBoundingClientRect().height);
    const low = await height();
    await panel.message.fill('a\nb\nc\nd');
    const middle = await height();
    await panel.message.fill('line\n'.repeat(200));
    const high = await height();
    assert.ok(low < middle && middle < high, `${low} < ${middle} < ${high}`);
    assert.equal(Math.round(high), 280);
  });

  it('shows the kept draft before the host has answered, and the newer of two after', async () => {
    const stored = { text: 'stored', caret: 2, scroll: null, editedAt: 10 };
    const panel = await suite.open({
      draft: { ...stored, text: 'stored later', editedAt: 20 },
      prepare: async ({ host, page }) => {
        host.answersReady = false;
        await page.addInitScript(
          (draft) => sessionStorage.setItem('state', draft),
          JSON.stringify({ panelId: 'panel-1', sessionId: 'session-1', draft: stored }),
        );
      },
    });
    await until(async () => (await panel.message.inputValue()) === 'stored', { what: 'the first paint' });
    assert.deepEqual((await panel.host.waitForPost('ready')).draft, stored);
    await panel.host.deliver(panel.host.snapshot());
    await until(async () => (await panel.message.inputValue()) === 'stored later', { what: 'the draft' });
  });

  it('keeps words typed before the snapshot against an older stored draft', async () => {
    const panel = await suite.open({
      draft: { text: 'old', caret: 0, scroll: null, editedAt: 20 },
      prepare: ({ host }) => {
        host.answersReady = false;
      },
    });
    await panel.message.fill('typed at once');
    const snapshot = {
      ...panel.host.snapshot(),
      draft: { text: 'old', caret: 0, scroll: null, editedAt: 20 },
    };
    await panel.host.deliver(snapshot);
    await until(() => panel.send.isEnabled(), { what: 'the snapshot' });
    assert.equal(await panel.message.inputValue(), 'typed at once');
  });

  it('brings text, caret and unanswered prompts back after a reload of the page', async () => {
    const panel = await suite.open();
    await panel.message.fill('on its way');
    await until(() => panel.send.isEnabled(), { what: 'Send to be enabled' });
    await panel.message.press('Enter');
    await panel.host.waitForPost('send');
    await panel.message.fill('newer');
    await panel.page.reload();
    await until(async () => (await panel.message.inputValue()) === 'on its way\n\nnewer', {
      what: 'both texts',
    });
    assert.equal(panel.host.posted('send').length, 1);
  });

  it('lets a prompt go that the host had taken before the reload', async () => {
    const panel = await suite.open();
    await panel.message.fill('taken');
    await until(() => panel.send.isEnabled(), { what: 'Send to be enabled' });
    await panel.message.press('Enter');
    const { messageId, text } = await panel.host.waitForPost('send');
    panel.host.apply({ type: 'messageAdded', message: makePrompt({ id: messageId, text }) });
    await panel.page.reload();
    await panel.article(messageId).waitFor();
    await until(async () => (await panel.message.inputValue()) === '', { what: 'an empty composer' });
  });
});
