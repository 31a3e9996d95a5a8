/** Where the chats are, whether they are sound, and chats from elsewhere: as a user asks for them. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ulid } from 'ulid';
import { Store } from '../../src/core/store/store.ts';
import { addChat } from '../core/store/support/stores.ts';
import { scratchDirectory, type Scratch } from '../support/vscode/workspace.ts';
import { until } from '../support/vscode/until.ts';
import { Editor } from './editor.ts';

const wasm = createRequire(import.meta.url).resolve('sql.js/dist/sql-wasm.wasm');

describe('The storage of the chats', () => {
  let editor: Editor;
  let scratch: Scratch;
  let folder: string;
  before(async () => {
    scratch = scratchDirectory('holdfast-storage-');
    folder = join(scratch.path, 'chats');
    editor = await Editor.start({ settings: { 'holdfast.storageFolder': folder } });
  });
  after(async () => {
    await editor.stop();
    scratch.remove();
  });

  it('is where the setting says, is verified, takes in chats from elsewhere, and tells of a chat that cannot be read', async () => {
    const store = await openStore(folder);
    await addChat(store, ['A chat that can be read']);
    const { id } = await addChat(store, ['A chat that cannot']);
    await store.close();
    const other = await openStore(join(scratch.path, 'other'));
    await addChat(other, ['From another profile', 'With an answer']);
    await other.close();

    const window = await editor.openWindow();
    const isTold = (text: RegExp): Promise<boolean> =>
      window
        .notifications(text)
        .first()
        .waitFor({ timeout: 10_000 })
        .then(() => true)
        .catch(() => false);
    const told = (text: RegExp): Promise<boolean> => until(() => isTold(text), { what: String(text) });
    // A window that is only just there may show no notification yet; asking again costs nothing.
    const ask = (command: string, text: RegExp): Promise<boolean> =>
      until(async () => (await window.runCommand(command), isTold(text)), { what: `${command}: ${text}` });
    await ask('Holdfast: Show Storage', new RegExp(`The chats are in ${folder}`));
    await ask('Holdfast: Verify Store', /Everything is sound: 2 chats with 2 messages/);

    await window.runCommand('Holdfast: Bring In Chats');
    const input = window.page.locator('.quick-input-widget');
    await input.getByText('A chat storage folder').click();
    const box = input.locator('input.input');
    // The dialog writes where it begins, and only then takes another path.
    await until(async () => (await box.inputValue()).endsWith('/'), { what: 'the dialog to be ready' });
    const otherFolder = `${join(scratch.path, 'other')}/`;
    await until(
      async () => {
        if ((await box.inputValue()) !== otherFolder) await box.fill(otherFolder);
        return (await box.inputValue()) === otherFolder && (await input.getByText('..').isVisible());
      },
      { what: 'the dialog to be in the other folder' },
    );
    await input.getByRole('button', { name: /Bring In/ }).click();
    await told(/1 chat with 2 messages was brought in/);

    const spoiling = await openStore(folder);
    await spoiling.write((writer) => writer.run(`UPDATE sessions SET source = 'x' WHERE id = ?`, [id]));
    await spoiling.close();
    await window.page.getByRole('tab', { name: 'Holdfast' }).locator('a').click();
    const list = window.page.getByRole('treeitem');
    await list.filter({ hasText: 'A chat that can be read' }).waitFor();
    assert.equal(await list.filter({ hasText: 'From another profile' }).count(), 1);
    await list.filter({ hasText: '1 chat could not be read' }).click();
    await told(/1 fault was found/);
    await window.close();
  });
});

function openStore(folder: string): Promise<Store> {
  return Store.open({ folder, wasm, checkpointWorkerFile: null, windowId: ulid() });
}
