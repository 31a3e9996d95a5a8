/** What goes wrong outside of the product ends in a plain sentence in the panel, and the words typed are kept. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { openChat } from '../support/vscode/chatPanel.ts';
import { type Editor, openNewChat } from './editor.ts';
import { sharedEditor } from './sharedEditor.ts';

describe('In the panel', () => {
  let editor: Editor;
  beforeEach(async () => {
    editor = await sharedEditor();
  });

  it('an endpoint that is not there is named, with a way out, and Retry works once it is', async () => {
    const closedPort = 9; // discard: nothing listens there
    const providers = [{ name: 'Gone', baseUrl: `http://127.0.0.1:${closedPort}/v1`, models: ['m'] }];
    const { panel } = await openNewChat(editor, { 'holdfast.providers': providers });
    await panel.send('Anybody there?');
    await panel.status('Assistant', ['error']);
    await panel.frame
      .getByText(/127\.0\.0\.1:9/)
      .first()
      .waitFor();
    assert.match(await panel.textOf(panel.lastMessage('You')), /Anybody there\?/);
    await panel.button('Retry').waitFor();
  });

  it('malformed settings are named, and the entries that are right still work', async () => {
    const settings = { 'holdfast.providers': [{ name: 'Half', models: 'm' }, 7] };
    const { panel } = await openNewChat(editor, settings);
    await panel.modelPicker.click();
    await panel.frame
      .getByText(/baseUrl is missing/)
      .first()
      .waitFor();
    await panel.composer.press('Escape');
    await panel.send('Where is the rental price calculated?');
    await panel.status('Assistant', ['complete'], 60_000);
  });

  it('a store folder that cannot be used is named, the text is kept, and all is well once the folder is', async () => {
    const folder = join(editor.newFolder(), 'chats');
    writeFileSync(folder, 'a file where the folder should be');
    const window = await editor.calmWindow({ 'holdfast.storageFolder': folder });
    const panel = await openChat(window);
    await panel
      .notice(new RegExp(basename(dirname(folder))))
      .first()
      .waitFor();
    await panel.composer.fill('Words that matter');
    rmSync(folder);
    await window.reload();
    const again = await editor.panel(window);
    await again.composer.and(again.frame.locator(':enabled')).waitFor();
    assert.equal(await again.draft(), 'Words that matter');
    await window.close();
  });
});
