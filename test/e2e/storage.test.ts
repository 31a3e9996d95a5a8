/** Where the chats are, whether they are sound, and chats from elsewhere: as a user asks for them. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ulid } from 'ulid';
import { SmallDisk } from '../support/smallDisk.ts';
import { skipBecause } from '../support/vscode/skip.ts';
import { Store } from '../../src/core/store/store.ts';
import { addChat } from '../core/store/support/stores.ts';
import { until } from '../support/vscode/until.ts';
import type { Editor } from './editor.ts';
import { sharedEditor } from './sharedEditor.ts';

const wasm = createRequire(import.meta.url).resolve('sql.js/dist/sql-wasm.wasm');

describe('The storage of the chats', () => {
  let editor: Editor;
  beforeEach(async () => {
    editor = await sharedEditor();
  });

  it('is where the setting says, is verified, takes in chats from elsewhere, and tells of a chat that cannot be read', async () => {
    const scratch = editor.newFolder();
    const folder = join(scratch, 'chats');
    const store = await openStore(folder);
    await addChat(store, ['A chat that can be read']);
    const { id } = await addChat(store, ['A chat that cannot']);
    await store.close();
    const other = await openStore(join(scratch, 'other'));
    await addChat(other, ['From another profile', 'With an answer']);
    await other.close();

    const window = await editor.calmWindow({ 'holdfast.storageFolder': folder });
    const isTold = (text: RegExp): Promise<boolean> =>
      window
        .notifications(text)
        .first()
        .waitFor({ timeout: 10_000 })
        .then(() => true)
        .catch(() => false);
    // A window that is only just there may show no notification yet, and shows three at most; asking again costs nothing.
    const ask = (act: () => Promise<void>, text: RegExp): Promise<boolean> =>
      until(
        async () => {
          await window.runCommand('Notifications: Clear All Notifications');
          await act();
          return isTold(text);
        },
        { what: String(text), timeout: 60_000 },
      );
    const where = new RegExp(`The chats are in ${folder}`);
    await ask(() => window.runCommand('Holdfast: Show Storage'), where);
    const isSound = /Everything is sound: 2 chats with 2 messages/;
    await ask(() => window.runCommand('Holdfast: Verify Store'), isSound);

    await window.runCommand('Holdfast: Bring In Chats');
    await window.page.locator('.quick-input-widget').getByText('A chat storage folder').click();
    await window.chooseFolder(join(scratch, 'other'), /Bring In/);
    await until(() => isTold(/1 chat with 2 messages was brought in/), { what: 'the chat to be brought in' });

    const spoiling = await openStore(folder);
    await spoiling.write((writer) => writer.run(`UPDATE sessions SET source = 'x' WHERE id = ?`, [id]));
    await spoiling.close();
    await window.page.getByRole('tab', { name: 'Holdfast' }).locator('a').click();
    const list = window.page.getByRole('treeitem');
    await list.filter({ hasText: 'A chat that can be read' }).waitFor();
    assert.equal(await list.filter({ hasText: 'From another profile' }).count(), 1);
    await ask(() => list.filter({ hasText: '1 chat could not be read' }).click(), /1 fault was found/);
    await window.close();
  });

  it('can be only read: list and chat say so, and it goes on by itself once it can be written', async function () {
    const disk = SmallDisk.mount(64);
    if ('reason' in disk) skipBecause(this, disk.reason);
    try {
      const folder = join(disk.folder, 'chats');
      const store = await openStore(folder);
      await addChat(store, ['A chat to be read']);
      await store.close();
      disk.setReadOnly(true);
      const window = await editor.calmWindow({ 'holdfast.storageFolder': folder });
      await window.page.getByRole('tab', { name: 'Holdfast' }).locator('a').click();
      const listed = window.page.locator('.sidebar').getByText(/can be read, but not changed/);
      await listed.waitFor();
      await window.page.getByRole('treeitem').filter({ hasText: 'A chat to be read' }).click();
      const panel = await editor.panel(window);
      await panel.notice(/can be read, but not changed/).waitFor();
      await panel.send('Can you write?');
      await panel.button('Send anyway').waitFor();
      assert.equal(await panel.draft(), 'Can you write?');
      disk.setReadOnly(false);
      await panel.notice(/can be changed again/).waitFor();
      await listed.waitFor({ state: 'detached' });
      await panel.composer.press('Enter');
      const request = await editor.models.waitForRequest();
      await request.send('I can.');
      await request.finish();
      await panel.answerContains('I can.');
      await panel.status('Assistant', ['complete']);
      await window.close();
    } finally {
      disk.remove();
    }
  });
});

function openStore(folder: string): Promise<Store> {
  return Store.open({ folder, wasm, checkpointWorkerFile: null, windowId: ulid() });
}
