import assert from 'node:assert/strict';
import {
  appendText,
  finishAnswer,
  makePrompt,
  makeTranscript,
  startAnswer,
} from '../support/page/builders.ts';
import { pageSuite } from '../support/page/suite.ts';
import { until } from '../support/vscode/until.ts';

describe('A chat in the page', () => {
  const suite = pageSuite();

  it('sends a prompt, shows it, streams the answer and says that both are on disk', async () => {
    const panel = await suite.open();
    await panel.message.fill('Where is the config?');
    await panel.message.press('Enter');
    const sent = await panel.host.waitForPost('send');
    assert.equal(sent.text, 'Where is the config?');
    assert.equal(await panel.message.inputValue(), '');
    assert.equal(await panel.article(sent.messageId).getAttribute('data-status'), 'pending');

    const prompt = makePrompt({ id: sent.messageId, seq: 1, text: sent.text });
    await panel.host.emit(
      { type: 'messageAdded', message: prompt },
      { type: 'messagesSaved', ids: [prompt.id] },
      ...startAnswer('a1', 2),
    );
    await panel.stop.waitFor();
    await panel.host.emit(appendText('a1', 'It is in '), appendText('a1', '**config.ts**.'));
    await panel.page.getByText('It is in config.ts.').waitFor();
    await panel.host.emit(...finishAnswer('a1'));
    await panel.stop.waitFor({ state: 'detached' });

    const articles = await panel.log.getByRole('article').evaluateAll((elements) =>
      elements.map((element) => ({
        name: element.getAttribute('aria-label'),
        status: element.getAttribute('data-status'),
        saved: element.querySelector('.mark')?.getAttribute('title'),
      })),
    );
    assert.deepEqual(articles, [
      { name: 'You', status: 'complete', saved: 'Saved on disk' },
      { name: 'Assistant', status: 'complete', saved: 'Saved on disk' },
    ]);
    await until(() => panel.page.getByText('The answer is complete.').count(), { what: 'the announcement' });
  });

  it('keeps the nodes and the selection of finished blocks while later text streams', async () => {
    const panel = await suite.open({ messages: makeTranscript(1) });
    await panel.article('m1').waitFor();
    const text = '```ts\nconst a = 1;\n```\n\nA finished paragraph.\n\nThe next one\n';
    await panel.host.emit(...startAnswer('a1', 2), appendText('a1', text));
    await panel.page.getByText('The next one').waitFor();
    await panel.article('a1').evaluate((article) => {
      const paragraph = article.querySelector('.markdown > p');
      const words = paragraph?.firstChild;
      if (!words) throw new Error('no paragraph');
      getSelection()?.setBaseAndExtent(words, 2, words, 10);
      Object.assign(window, { kept: [paragraph, article.querySelector('pre'), article] });
    });
    for (let chunk = 0; chunk < 40; chunk += 1) {
      await panel.host.emit(appendText('a1', chunk % 8 === 7 ? '\n\n' : ` word${chunk}`));
      if (chunk % 5 === 0) await panel.settle();
    }
    await panel.page.getByText('word38').waitFor();
    await panel.host.emit(...finishAnswer('a1'));
    await panel.stop.waitFor({ state: 'detached' });
    const found = await panel.page.evaluate(`({
      selected: getSelection().toString(),
      connected: window.kept.map((node) => node.isConnected),
    })`);
    assert.deepEqual(found, { selected: 'finished', connected: [true, true, true] });
  });

  it('does work for the chunk, not for the chat: 500 messages, one of them streaming', async () => {
    const panel = await suite.open({
      messages: makeTranscript(500, (number) => `Message ${number} with **some** \`code\``),
      pageSize: 500,
    });
    await panel.article('m500').waitFor();
    await panel.host.emit(...startAnswer('a1', 501), appendText('a1', 'start'));
    await panel.page.getByText('start').waitFor();
    await panel.log.evaluate((log) => {
      const touched = new Set<Element | null>();
      new MutationObserver((records) => {
        for (const { target } of records) {
          const element = target instanceof Element ? target : target.parentElement;
          touched.add(element?.closest('.message') ?? null);
        }
      }).observe(log, { subtree: true, childList: true, characterData: true, attributes: true });
      Object.assign(window, { touched });
    });
    const before = panel.host.delivered;
    const chunks = 200;
    for (let chunk = 0; chunk < chunks; chunk += 1) await panel.host.emit(appendText('a1', ' word'));
    await panel.host.emit(appendText('a1', ' done'));
    await panel.page.getByText('word done').waitFor();
    const bytesPerChunk = (panel.host.delivered - before) / chunks;
    const touched = await panel.page.evaluate(
      `[...window.touched].map((element) => element?.dataset.messageId ?? 'outside a message')`,
    );
    assert.deepEqual(touched, ['a1']);
    assert.ok(bytesPerChunk < 200, `${bytesPerChunk} characters for a chunk of 5`);
  });

  it('shows the whole text when chunks come faster than frames', async () => {
    const panel = await suite.open({ messages: makeTranscript(1) });
    await panel.article('m1').waitFor();
    await panel.host.emit(...startAnswer('a1', 2));
    const chunks = Array.from({ length: 5000 }, (_, index) => appendText('a1', `w${index} `));
    await panel.host.emit(...chunks);
    await panel.page.getByText('w4999').waitFor();
    const text = await panel.article('a1').locator('.markdown').textContent();
    assert.equal(text?.trim(), chunks.map((_, index) => `w${index}`).join(' '));
  });
});
