import assert from 'node:assert/strict';
import { appendText, makePrompt, makeTranscript, startAnswer } from '../support/page/builders.ts';
import { pageSuite } from '../support/page/suite.ts';
import { until } from '../support/vscode/until.ts';

describe('The connection to the host', () => {
  const suite = pageSuite();

  it('asks until a snapshot comes, then says that nothing came, and recovers', async () => {
    const panel = await suite.open({
      messages: makeTranscript(2),
      prepare: async ({ host, page }) => {
        host.answersReady = false;
        await page.clock.install();
      },
    });
    await panel.host.waitForPost('ready', 1);
    await panel.page.clock.runFor(3000);
    await panel.host.waitForPost('ready', 4);
    assert.equal(await panel.notice('got no answer').count(), 0);
    await panel.page.clock.runFor(10_000);
    await panel.notice('got no answer').waitFor();
    await panel.button('Reload Window').click();
    await panel.host.waitForPost('reloadWindow');
    panel.host.answersReady = true;
    await panel.page.clock.runFor(5000);
    await panel.article('m2').waitFor();
    await until(async () => (await panel.notice('got no answer').count()) === 0, { what: 'no notice' });
  });

  it('takes a first state that comes before it asked', async () => {
    const panel = await suite.open({
      messages: makeTranscript(2),
      prepare: ({ host }) => {
        host.answersReady = false;
      },
    });
    await panel.host.deliver(panel.host.snapshot());
    await panel.article('m2').waitFor();
  });

  it('asks for a snapshot when an event is missing, and ends with the whole text', async () => {
    const panel = await suite.open({ messages: makeTranscript(1) });
    await panel.article('m1').waitFor();
    await panel.host.emit(...startAnswer('a1', 2), appendText('a1', 'one '));
    await panel.page.getByText('one').waitFor();
    const asked = panel.host.posted('ready').length;
    panel.host.apply(appendText('a1', 'two '));
    await panel.host.emit(appendText('a1', 'three '));
    await panel.host.waitForPost('ready', asked + 1);
    await panel.page.getByText('one two three').waitFor();
    await panel.host.emit(appendText('a1', 'four'));
    await panel.page.getByText('one two three four').waitFor();
    assert.equal(panel.host.posted('ready').length, asked + 1);
  });

  it('ignores repeated events and an overtaken snapshot', async () => {
    const panel = await suite.open({ messages: makeTranscript(1) });
    await panel.article('m1').waitFor();
    const asked = panel.host.posted('ready').length; // a slow first answer is asked for again
    const stale = panel.host.snapshot();
    const events = [...startAnswer('a1', 2), appendText('a1', 'once')].map((event) =>
      panel.host.apply(event),
    );
    await panel.host.deliver(...events, ...events, stale);
    // As many answers as questions, though all say the same: only the first is laid out.
    const repeated = panel.host.snapshot();
    if (repeated.type !== 'snapshot') throw new Error('The host has no snapshot.');
    await panel.host.deliver({ ...repeated, chat: { ...repeated.chat, messages: [] } });
    await panel.host.emit(appendText('a1', ' only'));
    await panel.page.getByText('once only', { exact: true }).waitFor();
    assert.equal(panel.host.posted('ready').length, asked);
  });

  it('follows a new runtime from its first snapshot', async () => {
    const panel = await suite.open({ messages: makeTranscript(4) });
    await panel.article('m4').waitFor();
    await panel.host.emit({ type: 'messagesSaved', ids: [] }, { type: 'messagesSaved', ids: [] });
    panel.host.runtimeId = 'runtime-2';
    panel.host.seq = 0;
    await panel.host.emit(...startAnswer('a1', 5), appendText('a1', 'from the second'));
    await panel.page.getByText('from the second').waitFor();
  });

  it('does not stumble over messages it does not know', async () => {
    const panel = await suite.open({ messages: makeTranscript(1) });
    await panel.article('m1').waitFor();
    await panel.page.evaluate(() => {
      for (const message of [null, 1, 'x', { type: 'unknown' }, { type: 'event', seq: 'one' }]) {
        window.postMessage(message, '*');
      }
    });
    await panel.host.emit(...startAnswer('a1', 2), appendText('a1', 'still here'));
    await panel.page.getByText('still here').waitFor();
  });

  it('notices a dead host, keeps the words, and goes on with the next host', async () => {
    const panel = await suite.open({
      messages: makeTranscript(2),
      prepare: ({ page }) => page.clock.install(),
    });
    await panel.article('m2').waitFor();
    await panel.message.fill('unsent words');
    panel.host.answersPings = false;
    panel.host.answersReady = false;
    await panel.page.clock.runFor(10_000);
    await panel.notice('Holdfast is starting again').waitFor();
    assert.deepEqual(
      {
        text: await panel.message.inputValue(),
        isReadOnly: await panel.message.evaluate((element) => element.hasAttribute('readonly')),
        canSend: await panel.send.isEnabled(),
        reload: await panel.button('Reload Window').getAttribute('href'),
      },
      {
        text: 'unsent words',
        isReadOnly: true,
        canSend: false,
        reload: 'command:workbench.action.reloadWindow',
      },
    );

    panel.host.runtimeId = 'runtime-2';
    panel.host.answersPings = true;
    panel.host.answersReady = true;
    const asked = panel.host.posted('ready').length;
    await panel.page.clock.runFor(3000);
    assert.equal((await panel.host.waitForPost('ready', asked + 1)).draft?.text, 'unsent words');
    await until(() => panel.send.isEnabled(), { what: 'the composer to work again' });
    assert.equal(await panel.notice('Holdfast is starting again').count(), 0);
    assert.equal(await panel.message.inputValue(), 'unsent words');
  });

  it('sends a prompt again, under its id, to the host that came after', async () => {
    const panel = await suite.open({ messages: makeTranscript(2) });
    await panel.article('m2').waitFor();
    await panel.message.fill('did it arrive?');
    await panel.message.press('Enter');
    const first = await panel.host.waitForPost('send');
    panel.host.runtimeId = 'runtime-2';
    await panel.host.deliver(panel.host.snapshot());
    const second = await panel.host.waitForPost('send', 2);
    assert.deepEqual(second, first);
    const message = makePrompt({ id: first.messageId, seq: 3, text: first.text });
    await panel.host.emit({ type: 'messageAdded', message });
    await panel.page.locator(`[data-message-id="${first.messageId}"][data-status="complete"]`).waitFor();
    assert.equal(await panel.article(first.messageId).count(), 1);
  });

  it('forgets the draft of the chat that was shown before, not that of a compacted one', async () => {
    const panel = await suite.open({ messages: makeTranscript(2) });
    await panel.article('m2').waitFor();
    await panel.message.fill('words');
    const parent = panel.host.state.session;
    const compacted = { ...parent, id: 'child', parentId: parent.id, edge: 'compaction' as const };
    panel.host.state = { ...panel.host.state, session: compacted };
    panel.host.runtimeId = 'runtime-2';
    await panel.host.deliver(panel.host.snapshot());
    await until(async () => (await keptSession()) === 'child', { what: 'the new session id' });
    assert.equal(await panel.message.inputValue(), 'words');

    panel.host.state = { ...panel.host.state, session: { ...parent, id: 'other' } };
    panel.host.runtimeId = 'runtime-3';
    panel.host.draft = { text: 'other words', caret: 0, scroll: null, editedAt: 1 };
    await panel.host.deliver(panel.host.snapshot());
    await until(async () => (await panel.message.inputValue()) === 'other words', { what: 'its draft' });

    async function keptSession(): Promise<unknown> {
      return panel.page.evaluate("JSON.parse(sessionStorage.getItem('state')).sessionId");
    }
  });
});
