import assert from 'node:assert/strict';
import { makeTranscript, startAnswer } from '../support/page/builders.ts';
import type { PanelPage } from '../support/page/panelPage.ts';
import { pageSuite } from '../support/page/suite.ts';
import { until } from '../support/vscode/until.ts';

describe('Commands of the composer', () => {
  const suite = pageSuite();

  async function openChat(): Promise<PanelPage> {
    const panel = await suite.open({ messages: makeTranscript(2) });
    await panel.article('m2').waitFor();
    return panel;
  }

  const list = (panel: PanelPage) => panel.page.getByRole('listbox', { name: 'Commands' });
  const options = (panel: PanelPage) =>
    list(panel).getByRole('option').locator('.command-name').allInnerTexts();
  /** The option that assistive technology is told of. */
  const active = (panel: PanelPage) =>
    panel.message.evaluate((element) => {
      const id = element.getAttribute('aria-activedescendant');
      return id === null ? null : document.getElementById(id)?.querySelector('.command-name')?.textContent;
    });
  const text = (panel: PanelPage) => panel.message.inputValue();

  for (const [command, message] of [
    ['/compact', 'compact'],
    ['/archive', 'archive'],
    ['/new', 'newChat'],
  ] as const) {
    it(`runs ${command} on Enter and clears the text`, async () => {
      const panel = await openChat();
      await panel.message.pressSequentially(command);
      await panel.message.press('Enter');
      await panel.host.waitForPost(message);
      await until(async () => (await text(panel)) === '', { what: 'an empty composer' });
      assert.equal(panel.host.posted('draft').at(-1)?.draft.text, '');
      assert.deepEqual(panel.host.posted('send'), []);
    });
  }

  it('opens the list of models with /model, and comes back to the composer', async () => {
    const panel = await openChat();
    await panel.message.pressSequentially('/model');
    await panel.message.press('Enter');
    const models = panel.page.getByRole('listbox', { name: 'Choose a model' });
    await models.waitFor();
    assert.equal(await text(panel), '');
    await panel.page.keyboard.press('ArrowDown');
    await panel.page.keyboard.press('Enter');
    assert.equal((await panel.host.waitForPost('selectModel')).modelId, 'local/llama');
    await models.waitFor({ state: 'detached' });
    assert.equal(await panel.message.evaluate((element) => element === document.activeElement), true);
  });

  it('runs a command while an answer streams', async () => {
    const panel = await openChat();
    await panel.host.emit(...startAnswer('a1', 3));
    await panel.stop.waitFor();
    await panel.message.fill('/archive');
    await panel.message.press('Enter');
    await panel.host.waitForPost('archive');
  });

  it('sends what is no command, or more than one, as text', async () => {
    const panel = await openChat();
    for (const [index, prompt] of ['/usr', '/compact it, please'].entries()) {
      await panel.message.fill(prompt);
      assert.equal(await list(panel).count(), 0);
      await until(() => panel.send.isEnabled(), { what: 'Send to be enabled' });
      await panel.message.press('Enter');
      const sent = await panel.host.waitForPost('send', index + 1);
      assert.equal(sent.text, prompt);
      const problem = { reason: 'disk_full', message: 'The disk is full.' };
      await panel.host.deliver({
        type: 'sendRejected',
        messageId: sent.messageId,
        problem,
        canSendAnyway: false,
      });
      await until(async () => (await text(panel)) === prompt, { what: 'the text to be back' });
    }
    assert.deepEqual([panel.host.posted('compact'), panel.host.posted('archive')], [[], []]);
  });

  it('lists the commands after a slash, narrowed by what follows', async () => {
    const panel = await openChat();
    await panel.message.pressSequentially('/');
    await list(panel).waitFor();
    assert.deepEqual(await options(panel), ['/compact', '/archive', '/new', '/model']);
    await panel.message.pressSequentially('n');
    await until(async () => (await options(panel)).join() === '/new', { what: 'the one that fits' });
    await panel.message.pressSequentially(' ');
    await list(panel).waitFor({ state: 'detached' });
  });

  it('completes by keyboard: Up and Down choose, Enter and Tab take, Enter then runs', async () => {
    const panel = await openChat();
    await panel.message.pressSequentially('/');
    await list(panel).waitFor();
    const walk: unknown[] = [await active(panel)];
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowUp', 'ArrowUp']) {
      const before = await active(panel);
      await panel.message.press(key);
      await until(async () => (await active(panel)) !== before, { what: `${key} to move` });
      walk.push(await active(panel));
    }
    assert.deepEqual(walk, ['/compact', '/archive', '/new', '/archive', '/compact', '/model']);
    await panel.message.press('ArrowUp');
    await panel.message.press('Enter');
    await until(async () => (await text(panel)) === '/new', { what: 'the command in the composer' });
    assert.deepEqual(panel.host.posted('newChat'), []);
    await panel.message.press('Enter');
    await panel.host.waitForPost('newChat');

    await panel.message.pressSequentially('/co');
    await list(panel).waitFor();
    await panel.message.press('Tab');
    await until(async () => (await text(panel)) === '/compact', { what: 'the completed command' });
    assert.equal(await panel.message.evaluate((element) => element === document.activeElement), true);
    await panel.message.press('Tab');
    assert.equal(await panel.message.evaluate((element) => element === document.activeElement), false);
    await list(panel).waitFor({ state: 'detached' });
  });

  it('closes with Esc, which stops no answer, and opens again with the next letter', async () => {
    const panel = await openChat();
    await panel.host.emit(...startAnswer('a1', 3));
    await panel.stop.waitFor();
    await panel.message.pressSequentially('/');
    await list(panel).waitFor();
    await panel.message.press('Escape');
    await list(panel).waitFor({ state: 'detached' });
    assert.deepEqual([panel.host.posted('stop'), await text(panel)], [[], '/']);
    await panel.message.pressSequentially('m');
    await list(panel).waitFor();
    await panel.message.press('Escape');
    await panel.message.press('Escape');
    await panel.host.waitForPost('stop');
  });

  it('completes by a click and keeps the caret in the composer', async () => {
    const panel = await openChat();
    await panel.message.pressSequentially('/');
    await list(panel).getByRole('option', { name: '/archive' }).click();
    await until(async () => (await text(panel)) === '/archive', { what: 'the command in the composer' });
    assert.equal(await panel.message.evaluate((element) => element === document.activeElement), true);
    assert.deepEqual(panel.host.posted('archive'), []);
  });

  it('has a menu with what is done now and then', async () => {
    const panel = await openChat();
    const more = panel.button('More Actions');
    await more.focus();
    await panel.page.keyboard.press('Enter');
    const menu = panel.page.getByRole('menu', { name: 'More Actions' });
    await menu.waitFor();
    assert.deepEqual(await menu.getByRole('menuitem').allInnerTexts(), [
      'Compact Chat',
      'Archive and Start New',
    ]);
    await panel.page.keyboard.press('Escape');
    await menu.waitFor({ state: 'detached' });
    assert.equal(await more.evaluate((element) => element === document.activeElement), true);
    await more.click();
    await menu.waitFor();
    await more.click();
    await menu.waitFor({ state: 'detached' });
    await panel.page.keyboard.press('Enter');
    await menu.waitFor();
    await panel.page.keyboard.press('ArrowDown');
    await panel.page.keyboard.press('Enter');
    await panel.host.waitForPost('archiveAndStartNew');
    assert.deepEqual(panel.host.posted('compact'), []);
  });
});
