import assert from 'node:assert/strict';
import { makeTranscript } from '../support/page/builders.ts';
import type { OpenOptions } from '../support/page/panelPage.ts';
import { samples } from '../support/page/samples.ts';
import { pageSuite } from '../support/page/suite.ts';
import { until } from '../support/vscode/until.ts';

const lostPanel: OpenOptions = {
  ...samples['chooser'],
  messages: makeTranscript(2),
  prepare: ({ page }) => page.clock.install(),
};

describe('A panel that lost track of its chat', () => {
  const suite = pageSuite();

  it('asks which one it was, and shows the chat that the user names', async () => {
    const panel = await suite.open(lostPanel);
    await panel.page.getByRole('heading', { name: 'This panel lost track of its chat' }).waitFor();
    const names = await panel.page
      .getByRole('region', { name: 'lost track' })
      .getByRole('button')
      .allInnerTexts();
    assert.deepEqual(
      names.map((name) => name.replace(/\s+/g, ' ').trim()),
      [
        'The booking limit holdfast, 12 minutes ago',
        'New chat Draft, yesterday',
        'Release notes for May, and what was left out of them bicycles, 3 days ago',
        'New Chat',
      ],
    );
    assert.equal(await panel.log.count(), 0);
    await panel.button('The booking limit holdfast, 12 minutes ago').click();
    assert.equal((await panel.host.waitForPost('chooseChat')).sessionId, 's1');
    await panel.host.deliver(panel.host.snapshot());
    await panel.article('m2').waitFor();
    assert.equal(await panel.page.getByRole('heading', { name: 'lost track' }).count(), 0);
  });

  it('takes the question for an answer: asks no more, and gives no warning', async () => {
    const panel = await suite.open(lostPanel);
    await panel.button('New Chat').waitFor();
    const asked = panel.host.posted('ready').length;
    for (let count = 1; count <= 6; count += 1) {
      await panel.page.clock.runFor(2000);
      const { nonce } = await panel.host.waitForPost('ping', count);
      await panel.host.deliver({ type: 'pong', nonce });
    }
    assert.equal(panel.host.posted('ready').length, asked);
    assert.equal(await panel.page.getByRole('status').count(), 0);
  });

  it('offers a new chat, also when there is nothing to choose from', async () => {
    const panel = await suite.open({ ...lostPanel, choices: [] });
    await panel.page.getByText('none of this workspace').waitFor();
    await panel.button('New Chat').click();
    assert.equal((await panel.host.waitForPost('chooseChat')).sessionId, null);
  });

  it('keeps what is typed meanwhile, and tells nobody before it knows the chat', async () => {
    const panel = await suite.open(lostPanel);
    await panel.button('New Chat').waitFor();
    await panel.message.fill('words');
    await panel.message.press('Enter');
    await panel.notice('Say first which chat').waitFor();
    assert.deepEqual([panel.host.posted('send'), panel.host.posted('draft')], [[], []]);
    await panel.host.deliver(panel.host.snapshot());
    await panel.article('m2').waitFor();
    assert.equal(await panel.message.inputValue(), 'words');
    assert.equal((await panel.host.waitForPost('draft')).draft.text, 'words');
    await until(() => panel.send.isEnabled(), { what: 'Send to be enabled' });
    assert.equal(await panel.notice('Say first').count(), 0);
  });

  it('notices that the host died while it asked', async () => {
    const panel = await suite.open(lostPanel);
    await panel.button('New Chat').waitFor();
    panel.host.answersPings = false;
    await panel.page.clock.runFor(10_000);
    await panel.button('Reload Window').waitFor();
    assert.equal(await panel.button('New Chat').isDisabled(), true);
    panel.host.answersPings = true;
    await panel.page.clock.runFor(3000);
    await until(() => panel.button('New Chat').isEnabled(), { what: 'the question to be live again' });
  });
});
