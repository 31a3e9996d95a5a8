/** Chats of another folder beside one's own: seen, read and brought in, and never a byte of that folder changed. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ulid } from 'ulid';
import { Store } from '../../src/core/store/store.ts';
import { insertMessage } from '../../src/core/store/messages.ts';
import { insertSession, updateSession } from '../../src/core/store/sessions.ts';
import type { WriteTransaction } from '../../src/core/store/transaction.ts';
import { aMessage, aSession, wasmFile } from '../core/store/support/values.ts';
import { chatPanel } from '../support/vscode/chatPanel.ts';
import { until } from '../support/vscode/until.ts';
import type { Editor } from './editor.ts';
import { sharedEditor } from './sharedEditor.ts';

describe('A chat folder opened beside ones own', () => {
  let editor: Editor;
  let other: string;
  beforeEach(async () => {
    editor = await sharedEditor();
  });
  before(async () => {
    other = mkdtempSync(join(tmpdir(), 'holdfast-other-'));
    await write(other, (writer) => {
      const session = aSession({ id: 'theirs', title: 'Chat of another profile', titleSource: 'user' });
      insertSession(writer, session);
      insertMessage(writer, aMessage('theirs', { text: 'What about the brakes?' }));
      insertMessage(writer, aMessage('theirs', { role: 'assistant', text: 'They are fine.' }));
      insertSession(writer, aSession({ id: 'second', title: 'A second one' }));
      insertMessage(writer, aMessage('second', { text: 'Not brought in' }));
    });
  });
  after(() => rmSync(other, { recursive: true, force: true }));

  it('is listed and read over a reload, its chat is brought in, and it is missed when it is gone', async () => {
    const before = fingerprint(other);
    const window = await editor.calmWindow();
    const tree = window.page.locator('.sidebar').getByRole('tree', { name: 'Chats' });
    const row = (name: RegExp) => tree.getByRole('treeitem', { name });
    await window.page.locator('.activitybar').getByRole('tab', { name: 'Holdfast' }).click();

    await window.runCommand('Holdfast: Open Another Chat Folder');
    await window.page.locator('.quick-input-widget').filter({ hasText: 'read-only' }).waitFor();
    await window.chooseFolder(other, 'Open Read-Only');
    const root = row(new RegExp(basename(other)));
    await root.click();
    await row(/Chat of another profile/).click();
    const panel = chatPanel(window);
    await panel.answerContains('They are fine.');
    await panel.notice(other).waitFor();
    assert.equal(await panel.button('Send').isEnabled(), false);
    assert.equal(await panel.composer.evaluate((element) => element.hasAttribute('readonly')), true);
    assert.equal(await panel.button('Branch from here').count(), 0);

    await window.reload();
    await panel.answerContains('They are fine.');
    await panel.notice(other).waitFor();
    await root.waitFor();
    assert.deepEqual(fingerprint(other), before);

    await root.click();
    await row(/A second one/).waitFor();
    await write(other, (writer) => {
      insertMessage(writer, aMessage('theirs', { text: 'Are they oiled?' }));
      insertMessage(writer, aMessage('theirs', { role: 'assistant', text: 'They are oiled.' }));
      updateSession(writer, 'second', { title: 'Renamed there', titleSource: 'user' });
    });
    await panel.answerContains('They are oiled.');
    await row(/Renamed there/).waitFor();
    assert.equal(await row(/A second one/).count(), 0);
    const written = fingerprint(other);

    await panel.frame.getByRole('button', { name: 'Bring In', exact: true }).click();
    await panel.notice(other).waitFor({ state: 'detached' });
    await panel.answerContains('They are oiled.');
    await panel.send('And the bell?');
    const request = await editor.models.waitForRequest();
    assert.deepEqual(
      request.body.messages.slice(1).map(({ content }) => content),
      ['What about the brakes?', 'They are fine.', 'Are they oiled?', 'They are oiled.', 'And the bell?'],
    );
    await request.send('It rings.');
    await request.finish();
    await panel.answerContains('It rings.');
    assert.deepEqual(fingerprint(other), written);

    rmSync(other, { recursive: true });
    await window.runCommand('Holdfast: Refresh Chats');
    await row(/not there/).waitFor();
    await until(async () => (await row(/Chat of another profile/).count()) === 1, {
      what: 'the own chat only',
    });
    assert.equal(await row(/Renamed there/).count(), 0);
  });
});

/** As a window of the other profile does. */
async function write(folder: string, change: (writer: WriteTransaction) => void): Promise<void> {
  const options = { folder, wasm: wasmFile, checkpointWorkerFile: null, windowId: ulid() };
  const store = await Store.open(options);
  await store.write(change);
  await store.close();
}

/** Name, time and content of every file. */
function fingerprint(folder: string): unknown[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const file = join(folder, name);
      const stat = statSync(file);
      const content = stat.isFile() ? createHash('sha256').update(readFileSync(file)).digest('hex') : '';
      return [name, stat.mtimeMs, content];
    });
}
