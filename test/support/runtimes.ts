/** The runtimes of a window without an editor, with everything real but the model. */
import { ulid } from 'ulid';
import type { ChatModel } from '../../src/core/models/chatModel.ts';
import { LifecycleHooks } from '../../src/core/runtime/hooks.ts';
import { DigestMemory } from '../../src/core/runtime/memory.ts';
import { defaultLimits, RuntimeRegistry } from '../../src/core/runtime/registry.ts';
import { Rescue } from '../../src/core/runtime/rescue.ts';
import { systemTimers } from '../../src/core/runtime/timers.ts';
import type { Store } from '../../src/core/store/store.ts';

const log = (line: string) => void process.stderr.write(`${line}\n`);

/** What the window could not save. */
export function openRescue(storeFolder: string): Rescue {
  return new Rescue({ storeFolder, places: [], newId: ulid, now: Date.now, log });
}

/** Every chat asks the one model. */
export function openRegistry(store: Store, model: ChatModel): RuntimeRegistry {
  return new RuntimeRegistry({
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
    rescue: openRescue(store.folder),
    limits: () => defaultLimits,
  });
}
