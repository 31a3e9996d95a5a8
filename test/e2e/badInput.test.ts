/** What goes wrong outside of the product ends in a plain sentence in the panel, and the words typed are kept. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Editor, openNewChat } from './editor.ts';

describe('In the panel', () => {
  it('an endpoint that is not there is named, with a way out, and Retry works once it is', async () => {
    const closedPort = 9; // discard: nothing listens there
    const providers = [{ name: 'Gone', baseUrl: `http://127.0.0.1:${closedPort}/v1`, models: ['m'] }];
    await withEditor({ 'holdfast.providers': providers }, async (editor) => {
      const { window, panel } = await openNewChat(editor);
      await panel.send('Anybody there?');
      await panel.status('Assistant', ['error']);
      await panel.frame
        .getByText(/127\.0\.0\.1:9/)
        .first()
        .waitFor();
      assert.match(await panel.textOf(panel.lastMessage('You')), /Anybody there\?/);
      await panel.button('Retry').waitFor();
      await window.close();
    });
  });

  it('malformed settings are named, and the entries that are right still work', async () => {
    const settings = { 'holdfast.providers': [{ name: 'Half', models: 'm' }, 7] };
    await withEditor(settings, async (editor) => {
      const { window, panel } = await openNewChat(editor);
      await panel.modelPicker.click();
      await panel.frame
        .getByText(/baseUrl is missing/)
        .first()
        .waitFor();
      await panel.composer.press('Escape');
      await panel.send('Where is the rental price calculated?');
      await panel.status('Assistant', ['complete'], 60_000);
      await window.close();
    });
  });

  it('a store folder that cannot be used is named, the text is kept, and all is well once the folder is', async () => {
    await withEditor({}, async (editor) => {
      mkdirSync(dirname(editor.server.globalStorage), { recursive: true });
      rmSync(editor.server.globalStorage, { recursive: true, force: true });
      writeFileSync(editor.server.globalStorage, 'a file where the folder should be');
      const window = await editor.openWindow();
      await window.runCommand('Holdfast: New Chat');
      const panel = await editor.panel(window);
      await panel
        .notice(/holdfast\.holdfast-chat/)
        .first()
        .waitFor();
      await panel.composer.fill('Words that matter');
      rmSync(editor.server.globalStorage);
      await window.reload();
      const again = await editor.panel(window);
      await again.composer.and(again.frame.locator(':enabled')).waitFor();
      assert.equal(await again.draft(), 'Words that matter');
      await window.close();
    });
  });
});

async function withEditor(
  settings: Readonly<Record<string, unknown>>,
  use: (editor: Editor) => Promise<void>,
): Promise<void> {
  const editor = await Editor.start({ settings });
  try {
    await use(editor);
  } finally {
    await editor.stop();
  }
}
