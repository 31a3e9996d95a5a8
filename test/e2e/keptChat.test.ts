/** The product's main job, the whole way through: what was typed and what was answered survives the worst moment. */
import assert from 'node:assert/strict';
import { chatPanel, openChat } from '../support/vscode/chatPanel.ts';
import { extensionHostRestarted, killExtensionHost } from '../support/vscode/extensionHost.ts';
import { type Editor, openNewChat } from './editor.ts';
import { sharedEditor } from './sharedEditor.ts';

describe('A chat is kept', () => {
  let editor: Editor;
  beforeEach(async () => {
    editor = await sharedEditor();
  });

  it('through a killed extension host, a reload, archiving, another reload and reopening', async () => {
    const { window, panel } = await openNewChat(editor);
    await panel.send('Count for me, please');
    const request = await editor.models.waitForRequest();
    const streaming = request.stream(numbers(600), { chunksPerSecond: 40, chunkLength: 12 });
    await panel.answerContains('number 20,');
    const killed = killExtensionHost(editor.server);
    await streaming;
    await extensionHostRestarted(editor.server, killed);
    await window.reload();

    const restored = chatPanel(window);
    await restored.messages('Assistant').first().waitFor();
    assert.equal(await restored.status('Assistant', ['interrupted']), 'interrupted');
    assert.match(await restored.textOf(restored.lastMessage('You')), /Count for me, please/);
    const shown = await restored.textOf(restored.lastMessage('Assistant'));
    const kept = keptLength(shown, request.sentText);
    const due = sentBefore(request.sentLog, killed.at - 250);
    const figures = `${kept} characters kept, ${due} sent 250 ms before the kill, ${sentBefore(request.sentLog, killed.at)} at the kill`;
    console.log(`      ${figures}`);
    assert.ok(due > 0 && kept >= due, `older text was lost: ${figures}`);

    await window.runCommand('Holdfast: Archive Chat');
    await restored.button('Reopen').waitFor();
    await window.reload();
    const archived = chatPanel(window);
    await archived.button('Reopen').click();
    await archived.composer.and(archived.frame.locator(':enabled')).waitFor();
    await archived.send('Go on from there');
    const next = await editor.models.waitForRequest();
    await next.send('Here is the rest.');
    await next.finish();
    await archived.answerContains('Here is the rest.');
    assert.deepEqual(
      (await archived.shownMessages()).map(({ author, status }) => [author, status]),
      [
        ['You', 'complete'],
        ['Assistant', 'interrupted'],
        ['You', 'complete'],
        ['Assistant', 'complete'],
      ],
    );
    const told = next.body.messages.map((message) => message.role);
    assert.deepEqual(
      told.filter((role) => role !== 'system'),
      ['user', 'assistant', 'user'],
    );
    await window.close();
  });

  it('when its panel is closed in the middle of an answer: reopened, it has the whole answer, no gap, no repeat', async () => {
    const { window, panel } = await openNewChat(editor);
    await panel.send('A long answer');
    const request = await editor.models.waitForRequest();
    const text = numbers(200);
    await request.send(text.slice(0, 700));
    await panel.answerContains('number 40,');
    await window.closeEditorTab('A long answer');
    await window.editorTabs('A long answer').waitFor({ state: 'detached' });
    await request.send(text.slice(700, 1500));
    const reopened = await openChat(window, 'Holdfast: Open Last Chat');
    await reopened.answerContains('number 60,');
    await request.send(text.slice(1500));
    await request.finish();
    assert.equal(await reopened.status('Assistant', ['complete']), 'complete');
    const shown = await reopened.textOf(reopened.lastMessage('Assistant'));
    assert.ok(shown.includes(text.trim()), 'the text differs from what the server sent');
  });

  it('on Reload Window: the panel is back with its transcript, its draft and its scroll position', async () => {
    const { window, panel } = await openNewChat(editor);
    await panel.send('Something to scroll');
    const request = await editor.models.waitForRequest();
    await request.send(numbers(400).replaceAll(', ', ',\n\n'));
    await request.finish();
    await panel.status('Assistant', ['complete']);
    await panel.conversation.hover();
    await window.page.mouse.wheel(0, -600);
    await panel.type('A thought half typed');
    const before = await panel.scrollTop();
    await window.reload();
    const restored = chatPanel(window);
    await restored.messages('Assistant').first().waitFor();
    assert.equal(await restored.draft(), 'A thought half typed');
    assert.equal((await restored.shownMessages()).length, 2);
    await restored.conversation.evaluate(
      (element, wanted) =>
        new Promise<void>((resolve) => {
          const check = () => {
            if (Math.abs(element.scrollTop - wanted) < 40) resolve();
            else requestAnimationFrame(check);
          };
          check();
        }),
      before,
    );
  });

  it('when the server answers 500 or refuses: a clear state, the prompt kept, and Retry works', async () => {
    const { panel } = await openNewChat(editor);
    await panel.send('Will this fail?');
    (await editor.models.waitForRequest()).fail(500, { error: { message: 'Out of order' } });
    await panel.status('Assistant', ['error']);
    await panel.frame
      .getByText(/Out of order|500/)
      .first()
      .waitFor();
    assert.match(await panel.textOf(panel.lastMessage('You')), /Will this fail\?/);
    await panel.button('Retry').click();
    const again = await editor.models.waitForRequest();
    again.drop();
    await panel.button('Retry').click();
    const third = await editor.models.waitForRequest();
    await third.send('Not any more.');
    await third.finish();
    await panel.answerContains('Not any more.');
    assert.deepEqual(third.body.messages.filter(({ role }) => role !== 'system').length, 1);
  });
});

describe('Without a language model', () => {
  let editor: Editor;
  beforeEach(async () => {
    editor = await sharedEditor();
  });

  it('the offline guide answers a question about the workspace with a link that opens the right line', async () => {
    const { window, panel } = await openNewChat(editor, { 'holdfast.providers': [] });
    await panel.send('Where is the rental price calculated?');
    await panel.status('Assistant', ['complete'], 60_000);
    const cards = await panel.toolCards().count();
    assert.ok(cards >= 1 && cards <= 3, `${cards} tool calls`);
    const link = panel.link(/pricing\.ts:\d+/).first();
    const line = /pricing\.ts:(\d+)/.exec((await link.textContent()) ?? '')?.[1];
    await link.click();
    await window.editorTabs('pricing.ts').waitFor();
    await window.statusBarItem(new RegExp(`Ln ${line},`)).waitFor();
  });
});

function numbers(count: number): string {
  return Array.from({ length: count }, (_, index) => `number ${index}, `).join('');
}

/** How much of the sent text, from its start, is shown. */
function keptLength(shown: string, sent: string): number {
  const start = shown.indexOf(sent.slice(0, 20));
  let length = 0;
  while (length < sent.length && shown[start + length] === sent[length]) length += 1;
  return length;
}

/** Characters the server had sent at that time. */
function sentBefore(log: readonly { at: number; length: number }[], at: number): number {
  return log.findLast((entry) => entry.at <= at)?.length ?? 0;
}
