/** One chat in two windows: one writes, the other follows and takes it on when the first is gone. */
import assert from 'node:assert/strict';
import { chatPanel, openChat, type ChatPanel } from '../support/vscode/chatPanel.ts';
import { killExtensionHost } from '../support/vscode/extensionHost.ts';
import { type Editor, openNewChat } from './editor.ts';
import { sharedEditor } from './sharedEditor.ts';

describe('A chat that another window writes', () => {
  let editor: Editor;
  beforeEach(async () => {
    editor = await sharedEditor();
  });

  it('is followed live and read-only, and goes on here when the other window is gone', async () => {
    const { window: first, panel: writer } = await openNewChat(editor);
    await writer.send('One chat, two windows');
    const request = await editor.models.waitForRequest();
    await request.send('The first words ');
    await writer.answerContains('The first words');

    const second = await editor.openWindowElsewhere();
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
    const { panel: writer } = await openNewChat(editor);
    await writer.send('Whose chat is this?');
    const request = await editor.models.waitForRequest();
    await request.send('Mine, says the first window');
    await writer.answerContains('says the first window');

    const second = await editor.openWindowElsewhere();
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
    assert.deepEqual(await shownIn(writer), await shownIn(taker));
    await second.close();
  });

  it('in another folder goes on here by itself when the host that writes it is killed in the middle of an answer', async () => {
    const { window: first, panel: writer } = await openNewChat(editor);
    const [pid] = editor.server.extensionHosts();
    assert.ok(pid !== undefined);
    await writer.send('Who writes when you are gone?');
    const request = await editor.models.waitForRequest();
    await request.send('I do, says the first host');
    await writer.answerContains('says the first host');

    const second = await editor.openWindowElsewhere(editor.copyWorkspace());
    await second.runCommand('Holdfast: Open Last Chat');
    await second
      .notifications(/has no chat yet/)
      .getByRole('button', { name: 'Open It' })
      .click();
    const follower = await editor.panel(second);
    await follower.notice(/Open in another window/).waitFor({ timeout: 60_000 });
    await follower.answerContains('says the first host');

    killExtensionHost(editor.server, pid);
    await follower.notice(/Open in another window/).waitFor({ state: 'detached', timeout: 60_000 });
    assert.equal(await follower.status('Assistant', ['interrupted']), 'interrupted');
    await follower.answerContains('says the first host');
    await follower.send('Then I do');
    const next = await editor.models.waitForRequest();
    await next.send('Go on.');

    // The killed host comes back and finds that the chat is written elsewhere now.
    const revived = chatPanel(first);
    await revived.notice(/Open in another window/).waitFor({ timeout: 60_000 });
    await next.send(' Here.');
    await next.finish();
    await revived.answerContains('Go on. Here.');
    assert.deepEqual(await shownIn(revived), await shownIn(follower));
    await second.close();
    await first.close();
  });

  it('of one panel that two windows on a folder restore: one writes, and nothing is lost in either', async () => {
    const { window: first, panel } = await openNewChat(editor);
    await panel.send('Remember this panel');
    const request = await editor.models.waitForRequest();
    await request.send('I do.');
    await request.finish();
    await panel.status('Assistant', ['complete']);
    await first.reload(); // what the editor keeps of the panel is written now
    const writer = await editor.panel(first);
    await writer.answerContains('I do.');

    const second = await editor.openWindow();
    const follower = await editor.panel(second);
    await follower.answerContains('I do.');
    await follower.type('Words in the second window');
    await writer.send('Again');
    const again = await editor.models.waitForRequest();
    await again.send('Once more.');
    await follower.notice(/Open in another window/).waitFor({ timeout: 60_000 });
    await again.send(' And done.');
    await again.finish();
    await follower.answerContains('Once more. And done.');
    await writer.answerContains('Once more. And done.');
    assert.deepEqual(await shownIn(writer), await shownIn(follower));
    assert.equal(await follower.draft(), 'Words in the second window');
    assert.deepEqual(
      [await writer.notice(/Open in another window/).count(), await follower.button('Send').isEnabled()],
      [0, false],
    );

    await first.close();
    await follower.notice(/Open in another window/).waitFor({ state: 'detached', timeout: 60_000 });
    await follower.composer.press('Enter');
    const last = await editor.models.waitForRequest();
    await last.send('They are here.');
    await last.finish();
    await follower.answerContains('They are here.');
    assert.match(await follower.textOf(follower.lastMessage('You')), /Words in the second window/);
    await second.close();
  });
});

async function shownIn(panel: ChatPanel): Promise<unknown> {
  return (await panel.shownMessages()).map(({ identifier, status }) => [identifier, status]);
}
