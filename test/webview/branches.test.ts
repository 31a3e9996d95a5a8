/** Branch from here, Edit and resend, and the ways between branches, as the page offers them. */
import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import type { Fork } from '../../src/core/session/events.ts';
import type { ChatState } from '../../src/core/session/reducer.ts';
import {
  makePrompt,
  makeTestSession,
  makeTranscript,
  startAnswer,
  testSessionId,
} from '../support/page/builders.ts';
import type { PanelPage } from '../support/page/panelPage.ts';
import { pageSuite } from '../support/page/suite.ts';
import { until } from '../support/vscode/until.ts';

const hasFocus = (element: Locator) => element.evaluate((it) => it === document.activeElement);
const editBox = (panel: PanelPage) => panel.page.getByRole('textbox', { name: 'Edit message' });
const action = (panel: PanelPage, id: string, name: string) =>
  panel.article(id).getByRole('button', { name, exact: true });
const forkAfter = (panel: PanelPage, id: string) => panel.page.locator(`[data-message-id="${id}"] + .fork`);

/** The host shows another chat in the panel. */
async function show(panel: PanelPage, id: string, chat: Partial<ChatState>): Promise<void> {
  const session = makeTestSession({ id });
  panel.host.state = { ...panel.host.state, session, forks: [], ...chat };
  panel.host.runtimeId = `runtime of ${id}`;
  await panel.host.deliver(panel.host.snapshot());
}

describe('A message', () => {
  const suite = pageSuite();

  it('can be branched from, prompt or answer, and so can a chat that another window writes', async () => {
    const panel = await suite.open({ messages: makeTranscript(4), chat: { owner: 'elsewhere' } });
    await panel.article('m3').hover();
    await action(panel, 'm3', 'Branch from here').click();
    await panel.article('m2').hover();
    await action(panel, 'm2', 'Branch from here').click();
    const notice = panel.notice(/Open in another window/);
    await notice.getByRole('button', { name: 'Branch from here' }).click();
    await panel.host.waitForPost('branch', 3);
    assert.deepEqual(
      panel.host.posted('branch').map(({ messageId }) => messageId),
      ['m3', 'm2', null],
    );
  });

  it('whose contents cannot be read can be branched from, not changed or copied', async () => {
    const [prompt, ...others] = makeTranscript(2);
    assert.ok(prompt !== undefined);
    const panel = await suite.open({
      messages: [{ ...prompt, text: '', contents: 'unreadable' }, ...others],
    });
    await panel.article('m1').waitFor();
    const names = await panel
      .article('m1')
      .getByRole('button')
      .evaluateAll((buttons) => buttons.map((button) => button.getAttribute('aria-label')));
    assert.deepEqual(names, ['Branch from here']);
  });

  it('is reached by keyboard: its actions are seen once the focus is in it', async () => {
    const panel = await suite.open({ messages: makeTranscript(2) });
    const edit = action(panel, 'm1', 'Edit');
    const opacity = () =>
      panel
        .article('m1')
        .locator('.message-actions')
        .evaluate((it) => getComputedStyle(it).opacity);
    assert.equal(await opacity(), '0');
    await panel.scroller.focus();
    await panel.page.keyboard.press('Tab');
    assert.equal(await hasFocus(edit), true);
    assert.equal(await opacity(), '1');
    await panel.page.keyboard.press('Tab');
    await panel.page.keyboard.press('Enter');
    assert.equal((await panel.host.waitForPost('branch')).messageId, 'm1');
  });

  it('is changed in its place and sent: Enter sends once, Shift+Enter breaks the line', async () => {
    const panel = await suite.open({ messages: makeTranscript(4) });
    await panel.article('m3').hover();
    await action(panel, 'm3', 'Edit').click();
    const box = editBox(panel);
    assert.equal(await box.inputValue(), 'Message number 3');
    assert.equal(await hasFocus(box), true);
    await box.pressSequentially(' and');
    await box.press('Shift+Enter');
    await box.pressSequentially('more');
    await box.press('Enter');
    await box.press('Enter');
    const { messageId, text, branchId, promptId } = await panel.host.waitForPost('editAndResend');
    assert.deepEqual([messageId, text], ['m3', 'Message number 3 and\nmore']);
    assert.notEqual(branchId, promptId);
    assert.equal(panel.host.posted('editAndResend').length, 1);
    assert.deepEqual(panel.host.posted('send'), []);
    await show(panel, branchId, {
      messages: [...makeTranscript(2), makePrompt({ id: promptId, seq: 3, text })],
    });
    await panel.article(promptId).waitFor();
    assert.equal(await box.count(), 0);
    await show(panel, testSessionId, { messages: makeTranscript(4) });
    await panel.article('m3').hover();
    await action(panel, 'm3', 'Edit').click();
    assert.equal(await box.inputValue(), 'Message number 3', 'what was sent is not kept');
  });

  it('that is changed keeps what was typed: through Esc, another chat, a reload, and a refusal', async () => {
    const panel = await suite.open({ messages: makeTranscript(4) });
    const box = editBox(panel);
    await panel.host.emit(...startAnswer('a9', 5));
    await panel.article('m1').hover();
    await action(panel, 'm1', 'Edit').click();
    await box.fill('Something else');
    await box.press('Escape');
    await box.waitFor({ state: 'detached' });
    assert.equal(await hasFocus(action(panel, 'm1', 'Edit')), true);
    assert.deepEqual(panel.host.posted('stop'), [], 'Esc closed the box and stopped no answer');
    await panel.page.keyboard.press('Enter');
    assert.equal(await box.inputValue(), 'Something else');

    await show(panel, 'other', { messages: [] });
    await box.waitFor({ state: 'detached' });
    await show(panel, testSessionId, { messages: makeTranscript(4) });
    await until(async () => (await box.inputValue()) === 'Something else', {
      what: 'the box to be open again',
    });
    await panel.page.reload();
    await until(async () => (await box.inputValue()) === 'Something else', {
      what: 'the box after the reload',
    });

    await box.press('Enter');
    const first = await panel.host.waitForPost('editAndResend');
    const problem = { reason: 'disk_full', message: 'The disk is full.' };
    const rejected = { messageId: first.promptId, problem, canSendAnyway: false };
    await panel.host.deliver({ type: 'sendRejected', ...rejected });
    await panel.notice(/The disk is full/).waitFor();
    assert.equal(await box.inputValue(), 'Something else');
    await box.press('Enter');
    assert.deepEqual(
      await panel.host.waitForPost('editAndResend', 2),
      first,
      'the same ids, so no second branch',
    );
  });

  it('is not sent empty, nor while an input method composes', async () => {
    const panel = await suite.open({ messages: makeTranscript(2) });
    await panel.article('m1').hover();
    await action(panel, 'm1', 'Edit').click();
    const box = editBox(panel);
    await box.fill('  ');
    await until(() => panel.button('Resend').isDisabled(), { what: 'Resend to be disabled' });
    await box.press('Enter');
    await box.fill('候補');
    await box.dispatchEvent('compositionstart');
    await box.press('Enter');
    await box.press('Escape');
    await box.dispatchEvent('compositionend');
    await panel.settle();
    assert.equal(await box.count(), 1);
    assert.deepEqual(panel.host.posted('editAndResend'), []);
    await panel.button('Resend').click();
    assert.equal((await panel.host.waitForPost('editAndResend')).text.trim(), '候補');
  });
});

describe('Where branches part', () => {
  const suite = pageSuite();
  const chats = ['x', testSessionId, 'y'];

  it('the page says which way the chat goes, and switches to the others', async () => {
    const forks: Fork[] = [
      { after: null, chats: [testSessionId, 'z'], current: 0 },
      { after: 'm2', chats, current: 1 },
    ];
    const panel = await suite.open({ messages: makeTranscript(4), chat: { forks } });
    const groups = panel.page.getByRole('group', { name: 'Branches' });
    await until(async () => (await groups.count()) === 2, { what: 'both forks' });
    assert.match((await groups.first().textContent()) ?? '', /Branch 1 of 2/);
    assert.equal(await groups.first().getByRole('button', { name: 'Previous branch' }).isEnabled(), false);
    const fork = forkAfter(panel, 'm2');
    assert.match((await fork.textContent()) ?? '', /2\/3.*Branch 2 of 3/);
    await fork.getByRole('button', { name: 'Next branch' }).click();
    assert.equal((await panel.host.waitForPost('showChat')).sessionId, 'y');
    await fork.getByRole('button', { name: 'Previous branch' }).click();
    assert.equal((await panel.host.waitForPost('showChat', 2)).sessionId, 'x');
  });

  it('a branch that is made later is shown at once', async () => {
    const panel = await suite.open({ messages: makeTranscript(4) });
    await panel.article('m4').waitFor();
    await panel.host.emit({ type: 'forksChanged', forks: [{ after: 'm4', chats, current: 1 }] });
    await forkAfter(panel, 'm4').waitFor();
    await panel.host.emit({ type: 'forksChanged', forks: [] });
    await forkAfter(panel, 'm4').waitFor({ state: 'detached' });
  });

  it('the view and the focus stay at that place, in the middle of a long chat', async () => {
    const messages = makeTranscript(60, (number) =>
      `Message number ${number}\n\n`.repeat(number === 20 ? 60 : 6),
    );
    const fork = { after: 'm20', chats, current: 1 };
    const panel = await suite.open({ messages, chat: { forks: [fork] } });
    await panel.article('m60').waitFor();
    await forkAfter(panel, 'm20').scrollIntoViewIfNeeded();
    await forkAfter(panel, 'm20').getByRole('button', { name: 'Next branch' }).click();
    await panel.host.waitForPost('showChat');
    const copies = messages.map((message) => ({ ...message, id: `y:${message.id}` }));
    await show(panel, 'y', { messages: copies, forks: [{ ...fork, after: 'y:m20', current: 2 }] });
    const there = forkAfter(panel, 'y:m20');
    const previous = there.getByRole('button', { name: 'Previous branch' });
    await until(() => hasFocus(previous), { what: 'the focus at the same place' });
    await panel.settle();
    const box = await there.boundingBox();
    assert.ok(box !== null && box.y > 0 && box.y < 500, `the place is at ${JSON.stringify(box)}`);
    assert.ok((await panel.distanceToEnd()) > 500);
  });
});
