/** One chat in two windows: one writes, the other follows and takes it on when the first is gone. */
import assert from 'node:assert/strict';
import { openChat, type ChatPanel } from '../support/vscode/chatPanel.ts';
import { Editor, openNewChat } from './editor.ts';

describe('A chat that another window writes', () => {
  let editor: Editor;
  before(async () => {
    editor = await Editor.start();
  });
  after(() => editor.stop());

  it('is followed live and read-only, and goes on here when the other window is gone', async () => {
    const { window: first, panel: writer } = await openNewChat(editor);
    await writer.send('One chat, two windows');
    const request = await editor.models.waitForRequest();
    await request.send('The first words ');
    await writer.answerContains('The first words');

    const second = await editor.openWindow();
    const follower = await openChat(second, 'Holdfast: Open Last Chat');
    await follower.notice(/Open in another window/).waitFor({ timeout: 60_000 });
    await follower.answerContains('The first words');
    await request.send('and the next ones.');
    await follower.answerContains('and the next ones.');
    assert.equal(await follower.button('Send').isEnabled(), false);

    await first.close();
    await follower.notice(/Open in another window/).waitFor({ state: 'detached', timeout: 60_000 });
    assert.equal(await follower.status('Assistant', ['interrupted']), 'interrupted');
    await follower.send('Then I go on');
    const next = await editor.models.waitForRequest();
    await next.send('Please do.');
    await next.finish();
    await follower.answerContains('Please do.');
    await second.close();
  });

  it('is taken over in the middle of its answer: the text is kept, and the other window follows', async () => {
    const { window: first, panel: writer } = await openNewChat(editor);
    await writer.send('Whose chat is this?');
    const request = await editor.models.waitForRequest();
    await request.send('Mine, says the first window');
    await writer.answerContains('says the first window');

    const second = await editor.openWindow();
    const taker = await openChat(second, 'Holdfast: Open Last Chat');
    await taker.button('Take over here').click({ timeout: 60_000 });
    assert.equal(await taker.status('Assistant', ['interrupted']), 'interrupted');
    await taker.answerContains('says the first window');
    await taker.send('Then go on here');
    const next = await editor.models.waitForRequest();
    await next.send('Here it is.');
    await next.finish();
    await taker.answerContains('Here it is.');

    await writer.notice(/Open in another window/).waitFor({ timeout: 60_000 });
    await writer.answerContains('Here it is.');
    const texts = async (panel: ChatPanel) =>
      (await panel.shownMessages()).map(({ identifier, status }) => [identifier, status]);
    assert.deepEqual(await texts(writer), await texts(taker));
    await second.close();
    await first.close();
  });
});
