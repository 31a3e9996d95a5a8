import assert from 'node:assert/strict';
import { appendText, finishAnswer, makeTranscript, startAnswer } from '../support/page/builders.ts';
import type { PanelPage } from '../support/page/panelPage.ts';
import { pageSuite } from '../support/page/suite.ts';
import { until } from '../support/vscode/until.ts';

const paragraph = (number: number) =>
  `Message number ${number}\n\n${'Some words to fill a line. '.repeat(12)}`;

describe('Scrolling the transcript', () => {
  const suite = pageSuite();

  async function wheel(panel: PanelPage, pixels: number): Promise<void> {
    await panel.scroller.hover();
    await panel.page.mouse.wheel(0, pixels);
  }

  async function openStreaming(): Promise<PanelPage> {
    const panel = await suite.open({ messages: makeTranscript(40, paragraph) });
    await panel.article('m40').waitFor();
    await panel.host.emit(...startAnswer('a1', 41), appendText('a1', 'start'));
    await panel.page.getByText('start').waitFor();
    return panel;
  }

  async function stream(panel: PanelPage, chunks: number): Promise<void> {
    for (let chunk = 0; chunk < chunks; chunk += 1) {
      await panel.host.emit(appendText('a1', `\n\nParagraph ${chunk} of the answer.`));
    }
    await panel.page.getByText(`Paragraph ${chunks - 1} of`).waitFor({ state: 'attached' });
    await panel.settle();
  }

  it('follows the end while it is at the end', async () => {
    const panel = await openStreaming();
    await until(async () => (await panel.distanceToEnd()) <= 1, { what: 'the end' });
    await stream(panel, 60);
    assert.ok((await panel.distanceToEnd()) <= 1);
    assert.equal(await panel.button('Jump to newest').count(), 0);
  });

  it('holds its place for good after one wheel tick up, until the end is reached again', async () => {
    const panel = await openStreaming();
    await stream(panel, 20);
    const end = await panel.scrollTop();
    await wheel(panel, -1);
    await until(async () => (await panel.scrollTop()) < end, { what: 'the step up' });
    await panel.settle();
    const held = await panel.scrollTop();
    await stream(panel, 100);
    assert.equal(await panel.scrollTop(), held);
    await panel.host.emit(...finishAnswer('a1'));
    await panel.stop.waitFor({ state: 'detached' });
    assert.equal(await panel.scrollTop(), held);

    await panel.button('Jump to newest').waitFor();
    await wheel(panel, 100_000);
    await until(async () => (await panel.distanceToEnd()) <= 1, { what: 'the end' });
    await panel.button('Jump to newest').waitFor({ state: 'detached' });
  });

  it('returns to the end and follows again with the button', async () => {
    const panel = await openStreaming();
    await stream(panel, 30);
    await wheel(panel, -900);
    await panel.button('Jump to newest').click();
    await until(async () => (await panel.distanceToEnd()) <= 1, { what: 'the end' });
    await panel.host.emit(appendText('a1', '\n\nThe last paragraph.'));
    await panel.page.getByText('The last paragraph.').waitFor();
    await panel.settle();
    assert.ok((await panel.distanceToEnd()) <= 1);
  });

  it('does not push away a card that is opened at the end', async () => {
    const panel = await openStreaming();
    await panel.host.emit({
      type: 'toolCallAdded',
      id: 'a1',
      call: { id: 'c1', name: 'readFile', arguments: JSON.stringify({ lines: 'x\n'.repeat(80) }) },
    });
    const card = panel.page.getByRole('group', { name: 'Tool: readFile' });
    await card.waitFor();
    await panel.settle();
    const summary = card.locator('summary');
    const before = await summary.boundingBox();
    await summary.click();
    await panel.page.getByText('Arguments').waitFor();
    await panel.settle();
    assert.equal((await summary.boundingBox())?.y, before?.y);
  });

  it('reaches message 1 of 200 by scrolling up, without the view jumping', async function () {
    this.timeout(120_000);
    const panel = await suite.open({ messages: makeTranscript(200, paragraph), pageSize: 50 });
    await panel.article('m200').waitFor();
    await until(async () => (await panel.distanceToEnd()) <= 1, { what: 'the end' });
    let greatestJump = 0;
    await until(
      async () => {
        const before = await firstShown(panel);
        const loaded = panel.host.posted('loadOlder').length;
        await wheel(panel, -800);
        await panel.settle();
        const after = await firstShown(panel);
        // A step of 800 pixels shows at most a few messages further up, whatever was loaded meanwhile.
        if (panel.host.posted('loadOlder').length > loaded)
          greatestJump = Math.max(greatestJump, before - after);
        return (await panel.article('m1').count()) === 1 && (await panel.scrollTop()) === 0;
      },
      { what: 'message 1', timeout: 60_000, interval: 0 },
    );
    assert.ok(greatestJump <= 12, `jumped over ${greatestJump} messages`);
    const ids = await panel.log
      .getByRole('article')
      .evaluateAll((articles) => articles.map((article) => article.getAttribute('data-message-id')));
    assert.deepEqual(
      ids,
      makeTranscript(200).map(({ id }) => id),
    );
  });

  it('has about the height that it will have before all of it was laid out', async function () {
    this.timeout(60_000);
    const lengths = [1, 300, 8, 60, 1200];
    const panel = await suite.open({
      messages: makeTranscript(60, (number) =>
        `Words to fill a line. `.repeat(lengths[number % lengths.length] ?? 1),
      ),
    });
    await panel.article('m60').waitFor();
    const height = () => panel.scroller.evaluate((element) => element.scrollHeight);
    const guessed = await height();
    await panel.scroller.evaluate((element) => {
      for (const turn of element.querySelectorAll('.turn')) {
        if (turn instanceof HTMLElement) turn.style.contentVisibility = 'visible';
      }
    });
    const actual = await height();
    assert.ok(guessed > actual * 0.8 && guessed < actual * 1.25, `${guessed} instead of ${actual} pixels`);
  });

  it('loads some prompts more than a short first page has, and no more than that', async () => {
    const oneLine = (number: number) => paragraph(number).replaceAll('\n', ' ');
    const panel = await suite.open({ messages: makeTranscript(200, oneLine), pageSize: 4 });
    await panel.article('m200').waitFor();
    await until(() => panel.host.posted('loadOlder').length === 9, { what: 'pages with twenty prompts' });
    await panel.article('m161').waitFor({ state: 'attached' });
    assert.ok((await panel.distanceToEnd()) <= 1);
    await panel.message.focus();
    for (let prompt = 0; prompt < 19; prompt += 1) await panel.page.keyboard.press('ArrowUp');
    assert.match(await panel.message.inputValue(), /^Message number 163 /);
    assert.equal(panel.host.posted('loadOlder').length, 9);
  });

  it('keeps the older pages it has when a gap makes it ask for a snapshot', async () => {
    const panel = await suite.open({ messages: makeTranscript(120, paragraph), pageSize: 50 });
    await panel.article('m120').waitFor();
    await panel.scroller.evaluate((element) => element.scrollTo(0, 100));
    await panel.host.waitForPost('loadOlder');
    await panel.article('m21').waitFor({ state: 'attached' });
    panel.host.apply({ type: 'messagesSaved', ids: [] });
    await panel.host.emit(...startAnswer('a1', 121));
    await panel.article('a1').waitFor({ state: 'attached' });
    assert.equal(await panel.article('m21').count(), 1);
  });

  it('comes back to the same message after a reload, also on an older page', async () => {
    const panel = await suite.open({ messages: makeTranscript(200, paragraph), pageSize: 50 });
    await panel.article('m200').waitFor();
    for (const target of ['m151', 'm101', 'm80']) {
      await panel.article(target).waitFor({ state: 'attached' });
      await panel.article(target).evaluate((element) => element.scrollIntoView({ block: 'start' }));
      await panel.settle();
    }
    await until(async () => (await keptAnchor(panel)) !== null, { what: 'the place to be kept' });
    await panel.settle();
    const before = await firstShown(panel);
    const posts = panel.host.posted('draft').length;
    assert.ok(posts > 0);
    await panel.page.reload();
    await until(async () => (await panel.article('m80').count()) === 1, { what: 'the older page' });
    await until(async () => (await firstShown(panel)) === before, { what: `message ${before} on top` });
  });

  it('opens at the end of 5,000 messages and pages up', async function () {
    this.timeout(120_000);
    const pageSize = 250;
    const panel = await suite.open({ messages: makeTranscript(5000, paragraph), pageSize });
    await panel.article('m5000').waitFor();
    await until(async () => (await panel.distanceToEnd()) <= 1, { what: 'the end' });
    for (let first = 5001 - 2 * pageSize; first > 1; first -= pageSize) {
      await panel.scroller.evaluate((element) => element.scrollTo(0, 0));
      await panel.article(`m${first}`).waitFor({ state: 'attached' });
    }
    await panel.scroller.evaluate((element) => element.scrollTo(0, 0));
    await panel.article('m1').waitFor();
    assert.equal(await panel.log.getByRole('article').count(), 5000);
  });

  async function keptAnchor(panel: PanelPage): Promise<unknown> {
    return panel.page.evaluate("JSON.parse(sessionStorage.getItem('state')).anchor");
  }

  /** The number of the message on top of the view. */
  async function firstShown(panel: PanelPage): Promise<number> {
    return panel.scroller.evaluate((scroller) => {
      const { top } = scroller.getBoundingClientRect();
      const articles = [...scroller.querySelectorAll<HTMLElement>('article')];
      const first = articles.find((article) => article.getBoundingClientRect().bottom > top + 1);
      return Number(first?.dataset['messageId']?.slice(1));
    });
  }
});
