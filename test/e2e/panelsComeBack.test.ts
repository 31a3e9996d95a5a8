/** Panels whose extension host died, whose window went, or whose state was lost: they come back on their chats. */
import assert from 'node:assert/strict';
import { chatPanel } from '../support/vscode/chatPanel.ts';
import { extensionHostRestarted, killExtensionHost } from '../support/vscode/extensionHost.ts';
import { Editor, openNewChat } from './editor.ts';

describe('A panel comes back', () => {
  let editor: Editor;
  before(async () => {
    editor = await Editor.start();
  });
  after(() => editor.stop());

  it('live, without a reload, when the host was killed and started itself again; and it goes on', async () => {
    const { window, panel } = await openNewChat(editor);
    await panel.send('Tell me about bicycles');
    const request = await editor.models.waitForRequest();
    await request.send('They have two wheels and ');
    await panel.answerContains('two wheels');
    await panel.type('half a thought');
    const killed = killExtensionHost(editor.server);
    await extensionHostRestarted(editor.server, killed);

    const revived = chatPanel(window);
    await revived.button('Continue').and(revived.frame.locator(':enabled')).waitFor({ timeout: 60_000 });
    assert.equal(await revived.status('Assistant', ['interrupted']), 'interrupted');
    assert.equal(await revived.draft(), 'half a thought');
    assert.equal(await window.editorTabs('Tell me about bicycles').count(), 1);
    await revived.button('Continue').click();
    const next = await editor.models.waitForRequest();
    await next.send('a bell.');
    await next.finish();
    await revived.answerContains('a bell.');
    await window.close();
  });
});
