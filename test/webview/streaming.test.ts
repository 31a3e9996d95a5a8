import assert from 'node:assert/strict';
import { appendText, finishAnswer, makePrompt, startAnswer } from '../support/page/builders.ts';
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
});
