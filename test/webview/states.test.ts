import assert from 'node:assert/strict';
import {
  makeAnswer,
  makePrompt,
  makeTestSession,
  makeToolRow,
  makeTranscript,
} from '../support/page/builders.ts';
import { samples } from '../support/page/samples.ts';
import { pageSuite } from '../support/page/suite.ts';
import { until } from '../support/vscode/until.ts';

const prompt = makePrompt({ id: 'p1', text: 'question' });

describe('States of a chat', () => {
  const suite = pageSuite();

  it('welcomes in an empty chat: what the offline guide is, and that nothing gets lost', async () => {
    const panel = await suite.open();
    await panel.page.getByText('built-in offline guide').waitFor();
    await panel.page.getByText('Nothing gets lost').waitFor();
  });

  it('shows an error with its cause and Retry', async () => {
    const panel = await suite.open(samples['error']);
    await panel.page.getByText('connection refused').waitFor();
    assert.equal(await panel.article('a4').getAttribute('data-status'), 'error');
    assert.equal(await panel.button('Continue').count(), 0);
    await panel.button('Retry').click();
    await panel.host.waitForPost('retry');
  });

  it('shows an interrupted answer with Continue and Retry', async () => {
    const panel = await suite.open(samples['interrupted']);
    await panel.page.getByText('The connection ended').waitFor();
    assert.equal(await panel.article('a4').getAttribute('data-status'), 'interrupted');
    await panel.button('Continue').click();
    await panel.host.waitForPost('continue');
    await panel.button('Retry').click();
    await panel.host.waitForPost('retry');
  });

  it('offers Retry for a prompt that never got an answer', async () => {
    const panel = await suite.open({ messages: [prompt] });
    await panel.page.getByText('has no answer yet').waitFor();
    assert.equal(await panel.button('Continue').count(), 0);
    await panel.button('Retry').click();
    await panel.host.waitForPost('retry');
  });

  it('is read-only when archived, and reopens in place', async () => {
    const panel = await suite.open(samples['archived']);
    await panel.notice('This chat is archived').waitFor();
    assert.deepEqual(
      [await panel.message.isDisabled(), await panel.send.isDisabled(), await panel.button('Retry').count()],
      [true, true, 0],
    );
    await panel.button('Reopen').click();
    await panel.host.waitForPost('reopen');
    await panel.host.emit({ type: 'sessionChanged', session: makeTestSession() });
    await panel.notice('archived').waitFor({ state: 'detached' });
    assert.equal(await panel.message.isEnabled(), true);
  });

  it('says of each message that cannot be read that it cannot, and shows the rest', async () => {
    const panel = await suite.open(samples['unreadable']);
    await panel.log.getByText('Everything else.').waitFor();
    for (const id of ['p1', 'a2']) {
      const words = await panel.article(id).innerText();
      assert.match(words, /This message cannot be read: the file that holds it is missing or damaged/);
    }
    const tool = panel.article('t1');
    await tool.locator('summary').click();
    assert.match(await tool.innerText(), /This message cannot be read/);
  });

  it('follows another window that writes the chat, read-only, until it is free again', async () => {
    const panel = await suite.open(samples['elsewhere']);
    await panel
      .notice('Open in another window, which is writing to it. You see it live, read-only.')
      .waitFor();
    const state = async () => ({
      text: await panel.message.inputValue(),
      isReadOnly: await panel.message.evaluate((element) => element.hasAttribute('readonly')),
      disabled: [
        await panel.send.isDisabled(),
        await panel.button('Continue').isDisabled(),
        await panel.button('Retry').isDisabled(),
      ],
    });
    assert.deepEqual(await state(), {
      text: 'words of this panel',
      isReadOnly: true,
      disabled: [true, true, true],
    });
    await panel.message.press('Home');
    await panel.host.emit({ type: 'ownerChanged', owner: 'here' });
    await panel.notice('Open in another window').waitFor({ state: 'detached' });
    assert.deepEqual(await state(), {
      text: 'words of this panel',
      isReadOnly: false,
      disabled: [false, false, false],
    });
    await panel.host.emit({ type: 'ownerChanged', owner: 'elsewhere' });
    await panel.notice('Open in another window').waitFor();
  });

  it('takes a chat over that another window writes', async () => {
    const panel = await suite.open(samples['elsewhere']);
    await panel.button('Take over here').click();
    await panel.host.waitForPost('takeOver');
    await panel.host.emit({ type: 'ownerChanged', owner: 'here' });
    await panel.button('Take over here').waitFor({ state: 'detached' });
  });

  it('shows a chat of another folder read-only, says where it is, and asks for it to be brought in', async () => {
    const panel = await suite.open(samples['otherFolder']);
    await panel.notice('This chat is in /home/me/other/holdfast-chats and read-only.').waitFor();
    assert.equal(await panel.message.evaluate((element) => element.hasAttribute('readonly')), true);
    for (const name of ['Take over here', 'Branch from here', 'Edit', 'Archive', 'New Chat']) {
      assert.equal(await panel.button(name).count(), 0, name);
    }
    await panel.button('Bring In').click();
    await panel.host.waitForPost('bringIn');
  });

  it('offers no Reopen for an archived chat of another folder', async () => {
    const session = makeTestSession({ endedAt: 1, endReason: 'archived' });
    const panel = await suite.open({ chat: { owner: 'elsewhere', folder: '/elsewhere', session } });
    await panel.button('Bring In').waitFor();
    assert.equal(await panel.button('Reopen').count(), 0);
  });

  it('tells no draft and stops nothing while another window writes the chat', async () => {
    const panel = await suite.open({
      ...samples['elsewhere'],
      chat: { owner: 'elsewhere', turn: { id: 'turn-1', startedAt: 0, phase: 'streaming' } },
    });
    await panel.stop.waitFor();
    assert.equal(await panel.stop.isDisabled(), true);
    await panel.message.press('Home');
    await panel.message.press('Escape');
    await panel.host.emit({ type: 'turnEnded', stopReason: 'complete' });
    await panel.stop.waitFor({ state: 'detached' });
    assert.deepEqual([panel.host.posted('draft'), panel.host.posted('stop')], [[], []]);
  });

  it('folds the summary of a compacted chat, its text inside', async () => {
    const panel = await suite.open(samples['summary']);
    const text = panel.page.getByText('They found the booking limit');
    await panel.page.getByText('At the booking limit.').waitFor();
    assert.equal(await text.isVisible(), false);
    await panel.page.getByText('Earlier conversation was summarised').click();
    await text.waitFor();
    assert.equal(await panel.article('copy').count(), 0);
  });

  it('says which messages are not saved and why, and saves again', async () => {
    const panel = await suite.open(samples['notSaved']);
    await panel.notice('The disk that holds your chats is full').waitFor();
    const marks = () =>
      panel.page
        .locator('article')
        .evaluateAll((articles) =>
          articles.map((article) => article.querySelector('.mark')?.getAttribute('title')),
        );
    assert.deepEqual(await marks(), ['Not saved yet', 'Saved on disk', 'Not saved yet']);
    await panel.button('Save Again').click();
    await panel.host.waitForPost('saveAgain');
    await panel.host.emit(
      { type: 'savingChanged', problem: null },
      { type: 'messagesSaved', ids: ['p1', 'a2'] },
    );
    await panel.notice('disk').waitFor({ state: 'detached' });
    assert.deepEqual(await marks(), ['Saved on disk', 'Saved on disk', 'Saved on disk']);
  });

  it('says why a chat cannot be shown and keeps the words', async () => {
    const panel = await suite.open({
      prepare: ({ host }) => {
        host.answersReady = false;
      },
    });
    await panel.message.fill('my words');
    const problem = { reason: 'not_writable', message: 'The folder cannot be written to.' };
    await panel.host.deliver({ type: 'unavailable', problem });
    await panel.notice('The folder cannot be written to.').waitFor();
    assert.equal(await panel.message.inputValue(), 'my words');
    assert.equal(await panel.send.isDisabled(), true);
    await panel.host.deliver(panel.host.snapshot());
    await until(() => panel.send.isEnabled(), { what: 'the chat to be there' });
    assert.equal(await panel.message.inputValue(), 'my words');
  });

  it('shows a tool call as a card: arguments, state, result, duration', async () => {
    const panel = await suite.open(samples['answer']);
    const card = panel.page.getByRole('group', { name: 'Tool: searchText' });
    await card.locator('summary').click();
    await card.getByText('src/config.ts:12: bookingLimit').waitFor();
    assert.equal(await card.getAttribute('data-state'), 'complete');
    assert.match((await card.textContent()) ?? '', /42 ms/);
    const failed = panel.page.getByRole('group', { name: 'Tool: readFile' });
    assert.match((await failed.textContent()) ?? '', /Failed.*1\.3 s/);
  });

  it('says that a call was interrupted whose result never came, and survives arguments that are no JSON', async () => {
    const calls = [{ id: 'c1', name: 'readFile', arguments: '{"path": "src/' }];
    const panel = await suite.open({
      messages: [prompt, makeAnswer({ id: 'a1', seq: 2, toolCalls: calls })],
    });
    const card = panel.page.getByRole('group', { name: 'Tool: readFile' });
    await card.waitFor();
    assert.equal(await card.getAttribute('data-state'), 'interrupted');
    assert.match((await card.textContent()) ?? '', /\{"path": "src\//);
    await panel.button('Continue').waitFor();
  });

  it('shows a result whose call is on an older page', async () => {
    const row = makeToolRow({ id: 't1', seq: 1, toolCallId: 'c9', toolName: 'listFolder', text: 'a.ts' });
    const panel = await suite.open({ messages: [row, makeAnswer({ id: 'a1', seq: 2, text: 'done' })] });
    await panel.page.getByRole('group', { name: 'Tool: listFolder' }).waitFor();
  });

  it('folds earlier attempts, and does not show rows that compaction carried over', async () => {
    const panel = await suite.open({
      messages: [
        makePrompt({ id: 'copy', seq: 1, text: 'carried over', copyOf: 'm0' }),
        makePrompt({ id: 'p1', seq: 2, text: 'question' }),
        makeAnswer({ id: 'x1', seq: 3, text: 'old answer', active: false }),
        makeAnswer({ id: 'a1', seq: 4, text: 'new answer' }),
      ],
    });
    await panel.page.getByText('new answer').waitFor();
    assert.equal(await panel.page.getByText('carried over').count(), 0);
    assert.equal(await panel.page.getByText('old answer').isVisible(), false);
    await panel.page.getByText('Earlier attempt').click();
    await panel.page.getByText('old answer').waitFor();
  });

  it('folds an answer when a retry supersedes it', async () => {
    const panel = await suite.open({ messages: makeTranscript(2) });
    await panel.article('m2').waitFor();
    await panel.host.emit({ type: 'messagesSuperseded', ids: ['m2'] });
    await panel.page.getByText('Earlier attempt').waitFor();
    assert.equal(await panel.article('m2').isVisible(), false);
  });

  it('picks a model by keyboard, and Esc closes the list without stopping anything', async () => {
    const panel = await suite.open({ messages: makeTranscript(2) });
    const picker = panel.button('Model: Offline guide');
    await picker.focus();
    await panel.page.keyboard.press('Enter');
    const list = panel.page.getByRole('listbox', { name: 'Choose a model' });
    await list.waitFor();
    await panel.page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    assert.equal(await picker.evaluate((element) => element === document.activeElement), true);
    await panel.page.keyboard.press('ArrowDown');
    await list.waitFor();
    await panel.page.keyboard.press('ArrowDown');
    await panel.page.keyboard.press('Enter');
    assert.equal((await panel.host.waitForPost('selectModel')).modelId, 'local/llama');
    await panel.host.deliver({
      type: 'models',
      models: { ...panel.host.models, selectedId: 'local/llama' },
    });
    await panel.button('Model: Llama 3.3').waitFor();
    assert.deepEqual(panel.host.posted('stop'), []);
  });

  it('shows and dismisses a passing notice, and takes the focus when asked', async () => {
    const panel = await suite.open({ messages: makeTranscript(2) });
    await panel.article('m2').waitFor();
    await panel.log.focus();
    await panel.host.deliver(
      { type: 'notice', message: 'There is no file x.ts.' },
      { type: 'focusComposer' },
    );
    await panel.notice('There is no file x.ts.').waitFor();
    await until(() => panel.message.evaluate((element) => element === document.activeElement), {
      what: 'the caret in the composer',
    });
    await panel.button('Dismiss').click();
    await panel.notice('There is no file').waitFor({ state: 'detached' });
  });
});
