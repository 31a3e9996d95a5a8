/** Panels whose extension host died, whose window went, or whose server restarted: they come back on their chats. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { ulid } from 'ulid';
import { Store } from '../../src/core/store/store.ts';
import { dumpTables } from '../core/store/support/dump.ts';
import { chatPanel, openChat } from '../support/vscode/chatPanel.ts';
import { extensionHostRestarted, killExtensionHost } from '../support/vscode/extensionHost.ts';
import { until } from '../support/vscode/until.ts';
import { type Editor, openNewChat } from './editor.ts';
import { sharedEditor } from './sharedEditor.ts';

describe('A panel comes back', () => {
  let editor: Editor;
  beforeEach(async () => {
    editor = await sharedEditor();
  });

  it('live, without a reload, when the host was killed and started itself again, twice, and a third time by hand; and it goes on', async () => {
    const { window, panel } = await openNewChat(editor);
    await panel.send('Tell me about bicycles');
    const request = await editor.models.waitForRequest();
    await request.send('They have two wheels and ');
    await panel.answerContains('two wheels');
    await panel.type('half a thought');
    for (const round of ['first', 'second', 'third']) {
      // The page of the dead host looks alive for a moment; what counts is the one that replaces it.
      const body = chatPanel(window).frame.locator('body');
      await body.evaluate((element) => element.setAttribute('data-old', ''));
      const killed = killExtensionHost(editor.server);
      if (round === 'third') {
        // The editor has had enough of it and leaves the next start to the user; meanwhile the page says what is wrong.
        await chatPanel(window)
          .notice(/stopped/)
          .waitFor({ timeout: 60_000 });
        await window.page.getByRole('button', { name: /^Restart (Remote )?Extension Host/ }).click();
      }
      await extensionHostRestarted(editor.server, killed);
      const revived = chatPanel(window);
      await revived.frame.locator('body:not([data-old])').waitFor({ timeout: 60_000 });
      await revived.button('Continue').and(revived.frame.locator(':enabled')).waitFor({ timeout: 60_000 });
      assert.equal(await revived.status('Assistant', ['interrupted']), 'interrupted', round);
      assert.equal(await revived.draft(), 'half a thought', round);
      assert.equal(await window.editorTabs('Tell me about bicycles').count(), 1, round);
    }
    const revived = chatPanel(window);
    await revived.button('Continue').click();
    const next = await editor.models.waitForRequest();
    await next.send('a bell.');
    await next.finish();
    await revived.answerContains('a bell.');
    await window.close();
  });

  it('after Reload Window in the middle of an answer: interrupted, text kept, chat open', async () => {
    const { window, panel } = await openNewChat(editor);
    await panel.send('Reload me');
    const request = await editor.models.waitForRequest();
    await request.send('As far as this.');
    await panel.answerContains('As far as this.');
    await window.reload();
    const restored = chatPanel(window);
    assert.equal(await restored.status('Assistant', ['interrupted'], 60_000), 'interrupted');
    await restored.answerContains('As far as this.');
    await restored.button('Continue').waitFor();
  });

  it('behind the chat that the user has begun meanwhile', async () => {
    const { panel } = await openNewChat(editor);
    await panel.send('Before the crash');
    const request = await editor.models.waitForRequest();
    await request.send('An answer.');
    await request.finish();
    await panel.status('Assistant', ['complete']);
    killExtensionHost(editor.server);
    await editor.forgetPanels();
    const next = await editor.openWindow();
    const begun = await openChat(next);
    await begun.type('A new thought');
    await next.editorTabs('Before the crash').waitFor({ timeout: 60_000 });
    assert.equal(await begun.draft(), 'A new thought');
    await next.page.keyboard.type(' goes on');
    await until(async () => (await begun.draft()) === 'A new thought goes on', { what: 'the words typed' });
  });

  it('in the next window when its window was closed in the middle of an answer', async () => {
    const { window, panel } = await openNewChat(editor);
    await panel.send('Close my window');
    const request = await editor.models.waitForRequest();
    await request.send('Up to here.');
    await panel.answerContains('Up to here.');
    await window.close();
    const next = await editor.openWindow();
    const restored = await openChat(next, 'Holdfast: Open Last Chat');
    await restored.messages('Assistant').filter({ hasText: 'Up to here.' }).waitFor({ timeout: 60_000 });
    assert.equal(await restored.status('Assistant', ['interrupted'], 60_000), 'interrupted');
  });

  it('after each of three restarts without anybody touching it, and no row has changed', async () => {
    const { window, panel } = await openNewChat(editor);
    await panel.send('Stay as you are');
    const request = await editor.models.waitForRequest();
    await request.send('I do.');
    await request.finish();
    await panel.status('Assistant', ['complete']);
    await window.reload(); // what the editor keeps of the panel is written now
    await editor.panel(window);
    await window.close();
    await until(() => editor.server.extensionHosts().length === 0, { what: 'the extension host to end' });
    const before = await tables(editor);
    for (let restart = 0; restart < 3; restart++) {
      await editor.restartServer();
      const again = await editor.openWindow();
      const restored = await editor.panel(again);
      await restored.messages('Assistant').filter({ hasText: 'I do.' }).waitFor({ timeout: 60_000 });
      await again.close();
      await until(() => editor.server.extensionHosts().length === 0, { what: 'the extension host to end' });
    }
    assert.deepEqual(await tables(editor), before);
  });
});

/**
 * All that is stored, as another window reads it, but for who claims a panel: a host that is ended before it could give that
 * back leaves its name, as one that crashed does.
 */
async function tables(editor: Editor): Promise<unknown> {
  const wasm = createRequire(import.meta.url).resolve('sql.js/dist/sql-wasm.wasm');
  const folder = editor.server.globalStorage;
  const store = await Store.open({ folder, wasm, checkpointWorkerFile: null, windowId: ulid() });
  try {
    const { routes = [], ...others } = dumpTables(store);
    return { ...others, routes: routes.map((route) => ({ ...route, window_id: null })) };
  } finally {
    await store.close();
  }
}
