/** A panel of the editor on a real core of its own, beside the one of the extension. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { ulid } from 'ulid';
import * as vscode from 'vscode';
import { makeOfflineGuide } from '../../src/core/models/offlineGuide.ts';
import { LifecycleHooks } from '../../src/core/runtime/hooks.ts';
import { DigestMemory } from '../../src/core/runtime/memory.ts';
import { PanelRoutes } from '../../src/core/runtime/panelRoutes.ts';
import { defaultLimits, RuntimeRegistry } from '../../src/core/runtime/registry.ts';
import { Rescue } from '../../src/core/runtime/rescue.ts';
import { systemTimers } from '../../src/core/runtime/timers.ts';
import { makeSession } from '../../src/core/session/model.ts';
import { insertSession } from '../../src/core/store/sessions.ts';
import { Store } from '../../src/core/store/store.ts';
import { ChatPanel } from '../../src/extension/chatPanel.ts';
import { CoreAccess, type Core } from '../../src/extension/core.ts';
import { until } from '../support/vscode/until.ts';

describe('A chat panel', () => {
  const extension = vscode.extensions.getExtension('holdfast.holdfast-chat');
  if (extension === undefined) throw new Error('VS Code does not know holdfast.holdfast-chat');
  const distribution = vscode.Uri.joinPath(extension.extensionUri, 'dist');
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  let folder: string;
  let access: CoreAccess;

  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-panel-'));
    access = new CoreAccess(() => openCore(folder));
    lines.length = 0;
  });
  afterEach(async () => {
    await access.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  async function openCore(storeFolder: string): Promise<Core> {
    const wasm = fs.readFileSync(vscode.Uri.joinPath(distribution, 'sql-wasm.wasm').fsPath);
    const windowId = ulid();
    const store = await Store.open({ folder: storeFolder, wasm, checkpointWorkerFile: null, windowId, log });
    const now = Date.now;
    const guide = makeOfflineGuide();
    const registry = new RuntimeRegistry({
      store,
      model: () => guide,
      modelPicker: () => ({ choices: [], selectedId: guide.id, problem: null }),
      tools: () => [],
      system: () => '',
      now,
      newId: ulid,
      isWindowAlive: (id) => store.isWindowAlive(id),
      timers: systemTimers,
      hooks: new LifecycleHooks(log),
      memory: new DigestMemory(store, now),
      rescue: new Rescue({ storeFolder, places: [], newId: ulid, now, log }),
      limits: () => defaultLimits,
      log,
    });
    return { store, registry, routes: new PanelRoutes({ store, workspaceUri: null, now }) };
  }

  it('that is told to show another chat while it is on its way to one is with the other, and only there', async () => {
    const services = { core: access, distribution, log, open: () => undefined };
    const { registry } = await access.get();
    for (let moment = 0; moment < 15; moment++) {
      const [first, second] = [ulid(), ulid()];
      const tab = vscode.window.createWebviewPanel('holdfast.test', 'Test', vscode.ViewColumn.One);
      const panel = new ChatPanel(services, tab, ulid(), { sessionId: first });
      const onItsWay = panel.show(first);
      for (let step = 0; step < moment; step++) await Promise.resolve();
      await Promise.all([onItsWay, panel.show(second)]);
      const isShown = (id: string) => registry.get(id)?.viewers.includes(panel) ?? false;
      assert.equal(panel.sessionId, second, `after ${moment} steps`);
      assert.deepEqual([isShown(first), isShown(second)], [false, true], `after ${moment} steps`);
      tab.dispose();
    }
    assert.deepEqual(lines, []);
  });

  it('reads its chat before its page can ask, and gives it back when it is closed before that', async () => {
    const { registry } = await access.get();
    for (const isClosedAtOnce of [false, true]) {
      const id = ulid();
      const tab = vscode.window.createWebviewPanel('holdfast.test', 'Test', vscode.ViewColumn.One);
      new ChatPanel({ core: access, distribution, log, open: () => undefined }, tab, ulid(), {
        sessionId: id,
      });
      if (!isClosedAtOnce) {
        const runtime = await until(() => registry.get(id), { what: 'the chat', interval: 1 });
        assert.deepEqual(runtime.viewers, []);
      }
      const givenBack = new Promise<void>((resolve) => registry.onDidChange(resolve));
      tab.dispose();
      await givenBack;
      assert.equal(registry.size, 0);
    }
    assert.deepEqual(lines, []);
  });

  it('that is seen wants its chat again when the runtime was given back, but not when the window goes', async () => {
    const { registry, store } = await access.get();
    const [first, tab] = [
      ulid(),
      vscode.window.createWebviewPanel('holdfast.test', 'Test', vscode.ViewColumn.One),
    ];
    const panel = new ChatPanel({ core: access, distribution, log, open: () => undefined }, tab, ulid(), {
      sessionId: first,
    });
    try {
      await store.write((writer) =>
        insertSession(writer, makeSession({ id: first, source: 'panel', createdAt: 1 })),
      );
      await panel.show(first);
      await registry.archive(first);
      await until(() => registry.get(first)?.viewers.includes(panel) === true, { what: 'the chat again' });
      assert.ok(panel.isVisible());
      await access.close();
      assert.equal(registry.size, 0);
    } finally {
      tab.dispose();
    }
  });
});
