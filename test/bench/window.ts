/** A window of the product without an editor: its store, its runtimes, and one chat, as a panel's page is told of it. */
import { ulid } from 'ulid';
import type { ChatModel } from '../../src/core/models/chatModel.ts';
import type { HostMessage } from '../../src/core/protocol/hostMessages.ts';
import type { ChatRuntime } from '../../src/core/runtime/chatRuntime.ts';
import { LifecycleHooks } from '../../src/core/runtime/hooks.ts';
import { DigestMemory } from '../../src/core/runtime/memory.ts';
import { defaultLimits, RuntimeRegistry } from '../../src/core/runtime/registry.ts';
import { Rescue } from '../../src/core/runtime/rescue.ts';
import { systemTimers } from '../../src/core/runtime/timers.ts';
import { openStore } from './stores.ts';

/** The chat of `sessionId`, shown; `receive` gets what a page would. */
export async function showChat(
  { folder, worker, sessionId }: { folder: string; worker: string; sessionId: string },
  model: ChatModel,
  receive: (message: HostMessage) => void,
): Promise<ChatRuntime> {
  const store = await openStore(folder, worker);
  const log = (line: string): void => console.error(line);
  const rescue = new Rescue({ storeFolder: folder, places: [], newId: ulid, now: Date.now, log });
  const registry = new RuntimeRegistry({
    store,
    model: () => model,
    modelPicker: () => ({ choices: [], selectedId: model.id, problem: null }),
    tools: () => [],
    system: () => '',
    now: Date.now,
    newId: ulid,
    isWindowAlive: (windowId) => store.isWindowAlive(windowId),
    log,
    timers: systemTimers,
    hooks: new LifecycleHooks(log),
    memory: new DigestMemory(store, Date.now),
    rescue,
    limits: () => defaultLimits,
  });
  const place = { workspaceUri: null, workspaceName: null, modelId: null };
  const runtime = await registry.openOrCreate({ id: sessionId, ...place });
  registry.attach(runtime, { isPanel: true, receive, isVisible: () => true, reclaimed: () => undefined });
  return runtime;
}

/** Milliseconds of a clock that all processes of the machine share and nobody sets. */
export function sharedTime(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
