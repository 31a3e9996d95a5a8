/** The one way in which a chat goes: asked for, confirmed, not taken back; then no file holds a word of it. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chatPanel, openChat, type ChatPanel } from '../support/vscode/chatPanel.ts';
import { until } from '../support/vscode/until.ts';
import type { VscodeWindow } from '../support/vscode/window.ts';
import { type Editor, openNewChat } from './editor.ts';
import { sharedEditor } from './sharedEditor.ts';

describe('Delete Permanently', () => {
  let editor: Editor;
  beforeEach(async () => {
    editor = await sharedEditor();
  });

  it('asks, can be taken back for ten seconds, and then leaves nothing of the chat', async () => {
    const { window, panel } = await openNewChat(editor);
    await panel.send('Remember the word xylophone');
    const request = await editor.models.waitForRequest();
    await request.send('I remember: glockenspiel.');
    await request.finish();
    await panel.status('Assistant', ['complete']);
    const isKept = () =>
      ['xylophone', 'glockenspiel'].filter((word) => holds(editor.server.globalStorage, word));
    assert.deepEqual(isKept(), ['xylophone', 'glockenspiel']);

    await startDeletion(window, 'Cancel');
    assert.equal(await window.notifications(/is deleted permanently/).count(), 0);
    await startDeletion(window, 'Delete Permanently');
    const undo = window.notifications(/is deleted permanently/);
    await undo.getByRole('button', { name: 'Undo' }).click();
    await undo.waitFor({ state: 'detached' });
    await panel.send('Still there?');
    const again = await editor.models.waitForRequest();
    await again.send('Yes.');
    await again.finish();
    await panel.answerContains('Yes.');

    // Words that were never sent stand in the browser's storage as well.
    await panel.composer.fill('unsent marimba');
    await until(async () => (await keptInBrowser(panel)).includes('marimba'), {
      what: 'the words to be kept',
    });
    await startDeletion(window, 'Delete Permanently');
    await window.editorTabs('Remember the word').waitFor({ state: 'detached', timeout: 30_000 });
    await until(() => isKept().length === 0, { what: 'the words to leave every file', timeout: 60_000 });
    const next = await openChat(window);
    await until(async () => !(await keptInBrowser(next)).includes('marimba'), {
      what: 'the browser to forget the words',
    });
    assert.equal(holds(editor.server.globalStorage, 'marimba'), false);
  });
});

/** What the pages of all panels keep. */
function keptInBrowser(panel: ChatPanel): Promise<string> {
  return panel.composer.evaluate(() => JSON.stringify({ ...localStorage }));
}

async function startDeletion(window: VscodeWindow, answer: 'Cancel' | 'Delete Permanently'): Promise<void> {
  await chatPanel(window).composer.waitFor();
  await window.runCommand('Holdfast: Delete Permanently');
  await window.modalDialog().getByRole('button', { name: answer, exact: true }).click();
  await window.modalDialog().waitFor({ state: 'detached' });
}

/** Whether any file of the store holds the word; snapshots and journals are not compressed. */
function holds(folder: string, word: string): boolean {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .some((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(word));
}
