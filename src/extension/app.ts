/** The composition root: builds everything by constructor arguments. Nothing here opens the store or reads a chat. */
import { readFile } from 'node:fs/promises';
import { ulid } from 'ulid';
import * as vscode from 'vscode';
import { StoredChats } from '../core/runtime/earlierChats.ts';
import { PanelRoutes } from '../core/runtime/panelRoutes.ts';
import { LifecycleHooks } from '../core/runtime/hooks.ts';
import { DigestMemory } from '../core/runtime/memory.ts';
import { writableAgain } from '../core/runtime/problems.ts';
import { RuntimeRegistry } from '../core/runtime/registry.ts';
import { systemTimers } from '../core/runtime/timers.ts';
import { Rescue, rescuePlaces } from '../core/runtime/rescue.ts';
import { startWindow } from '../core/runtime/startWindow.ts';
import { Store } from '../core/store/store.ts';
import { reportFaults, reportHealed, reportRescued } from './faultReport.ts';
import { systemPrompt } from '../core/runtime/systemPrompt.ts';
import { makeRecallTool } from '../core/tools/recall.ts';
import { makeWorkspaceTools } from '../core/tools/workspaceTools.ts';
import type { HoldfastApi } from './api.ts';
import { ChatList } from './chatList.ts';
import { registerCommands } from './commands.ts';
import { CoreAccess, type Core } from './core.ts';
import { Deletions } from './deletion.ts';
import { Disposables } from './disposables.ts';
import { ExportedApi } from './exportedApi.ts';
import { followByFocus } from './followByFocus.ts';
import { lifecycleLimits } from './lifecycleSettings.ts';
import { Models } from './models.ts';
import { OtherChatPanels } from './otherChatPanels.ts';
import { OtherFolders } from './otherFolders.ts';
import { PanelRevival } from './panelRevival.ts';
import { ChatPanels } from './panels.ts';
import { smallMemories } from './smallMemory.ts';
import { storageFolder } from './storage.ts';
import { workspaceIdentity } from './workspaceIdentity.ts';
import { EditorWorkspace } from './editorWorkspace.ts';

export interface App extends vscode.Disposable {
  /** What other extensions get. */
  readonly api: HoldfastApi;
  /** Writes what waits and closes the store; for `deactivate`. */
  close(): Promise<void>;
}

export function createApp(context: vscode.ExtensionContext): App {
  const disposables = new Disposables();
  const output = disposables.add(vscode.window.createOutputChannel('Holdfast', { log: true }));
  const log = (line: string) => output.info(line);
  const distribution = vscode.Uri.joinPath(context.extensionUri, 'dist');
  const wasmFile = vscode.Uri.joinPath(distribution, 'sql-wasm.wasm').fsPath;
  const hooks = new LifecycleHooks(log);
  const models = disposables.add(new Models(context.secrets));
  const tools = makeWorkspaceTools(new EditorWorkspace(), Date.now);

  const openCore = async (): Promise<Core> => {
    const store = await Store.open({
      folder: storageFolder(context),
      wasm: await readFile(wasmFile),
      checkpointWorkerFile: vscode.Uri.joinPath(distribution, 'checkpoint.cjs').fsPath,
      windowId: ulid(),
      log,
      onHealed: reportHealed,
      onWritable: () => {
        void prepare();
        for (const panel of panels.all) panel.receive({ type: 'notice', message: writableAgain });
      },
    });
    const isWindowAlive = (windowId: string) => store.isWindowAlive(windowId);
    const places = rescuePlaces(context.globalStorageUri.fsPath);
    const rescue = new Rescue({ storeFolder: store.folder, places, newId: ulid, now: Date.now, log });
    const prepare = async (): Promise<void> =>
      void reportRescued(await startWindow({ store, rescue, now: Date.now, log }));
    await prepare();
    const routes = new PanelRoutes({ store, workspaceUri: workspaceIdentity().uri, now: Date.now });
    const registry = new RuntimeRegistry({
      store,
      model: (modelId) => models.model(modelId),
      modelPicker: (modelId) => models.picker(modelId),
      tools: (session) => [
        ...tools,
        makeRecallTool(new StoredChats(store, session), () => systemTimers.now()),
      ],
      system: () => systemPrompt(vscode.workspace.name ?? null),
      now: Date.now,
      newId: ulid,
      isWindowAlive,
      timers: systemTimers,
      hooks,
      memory: new DigestMemory(store, Date.now),
      rescue,
      limits: lifecycleLimits,
      log,
    });
    models.onDidChange(() => registry.modelsChanged());
    disposables.add(followByFocus(store));
    void reportFaults(store);
    return { store, registry, routes };
  };
  const core = new CoreAccess(openCore);

  const panels = disposables.add(new ChatPanels({ core, distribution, log }));
  disposables.add(new PanelRevival(panels, core, log));
  const ownFolder = () => core.current?.store.folder ?? storageFolder(context);
  const memories = smallMemories(context);
  const folders = disposables.add(new OtherFolders({ memory: memories.profile, wasmFile, ownFolder, log }));
  const memory = memories.workspace;
  const otherChats = disposables.add(
    new OtherChatPanels({ core, folders, panels, memory, distribution, log }),
  );
  const storage = {
    core,
    folders,
    folder: ownFolder,
    wasmFile,
    verifyWorkerFile: vscode.Uri.joinPath(distribution, 'verify.cjs').fsPath,
    output,
  };
  const deletions = disposables.add(new Deletions({ core, panels, log }));
  const list = disposables.add(new ChatList(core, deletions, folders));
  disposables.add(registerCommands({ core, panels, otherChats, list, deletions, models, storage, log }));
  const api = disposables.add(new ExportedApi({ core, hooks, panels }));
  return {
    api,
    close: () => {
      deletions.dispose(); // what the user can still take back stays
      return core.close();
    },
    dispose: () => disposables.dispose(),
  };
}
