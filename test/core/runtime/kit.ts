/** A real store in a temporary folder, a registry on it, and a model that the test plays step by step. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ulid } from 'ulid';
import type { ChatModel, ModelEvent, ModelRequest } from '../../../src/core/models/chatModel.ts';
import type { HostMessage } from '../../../src/core/protocol/hostMessages.ts';
import type { ChatRuntime } from '../../../src/core/runtime/chatRuntime.ts';
import { LifecycleHooks } from '../../../src/core/runtime/hooks.ts';
import { RuntimeRegistry, type LifecycleLimits } from '../../../src/core/runtime/registry.ts';
import type { MemoryProvider } from '../../../src/core/runtime/memory.ts';
import { Rescue } from '../../../src/core/runtime/rescue.ts';
import type { Timers } from '../../../src/core/runtime/timers.ts';
import type { Viewer } from '../../../src/core/runtime/viewer.ts';
import { reduce, type ChatState } from '../../../src/core/session/reducer.ts';
import { Store } from '../../../src/core/store/store.ts';

const wasm = createRequire(import.meta.url).resolve('sql.js/dist/sql-wasm.wasm');

/** A model whose answers the test writes, one event at a time. */
export class PlayedModel implements ChatModel {
  readonly id = 'played';
  readonly name = 'Played';
  readonly requests: ModelRequest[] = [];
  /** Runs at the moment the model is asked. */
  onRequest: () => void = () => undefined;
  #queue: (ModelEvent | Error)[] = [];
  #wake: () => void = () => undefined;

  play(...events: (ModelEvent | Error)[]): void {
    this.#queue.push(...events);
    this.#wake();
  }

  /** A whole answer. */
  answer(text: string): void {
    this.play({ type: 'text', text }, { type: 'finish', usage: null });
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    this.requests.push(request);
    this.onRequest();
    for (;;) {
      const next = this.#queue.shift();
      if (next instanceof Error) throw next;
      if (next !== undefined) {
        yield next;
        if (next.type === 'finish') return;
        continue;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      if (signal.aborted) return;
    }
  }
}

/** A page without a page: applies what it gets with the shared reducer. */
export class RecordingViewer implements Viewer {
  readonly isPanel = true;
  state: ChatState | null = null;
  readonly received: HostMessage[] = [];
  visible = true;
  /** How often its runtime was taken away. */
  reclaims = 0;
  #waiting: { condition: (state: ChatState) => boolean; resolve: () => void }[] = [];

  receive(message: HostMessage): void {
    this.received.push(message);
    if (message.type === 'snapshot') this.state = message.chat;
    else if (message.type === 'event' && this.state !== null) this.state = reduce(this.state, message.event);
    const { state } = this;
    if (state === null) return;
    this.#waiting = this.#waiting.filter(({ condition, resolve }) => {
      if (!condition(state)) return true;
      resolve();
      return false;
    });
  }

  isVisible(): boolean {
    return this.visible;
  }

  reclaimed(): void {
    this.reclaims += 1;
  }

  /** Resolves once the state shows it. */
  shows(condition: (state: ChatState) => boolean): Promise<void> {
    if (this.state !== null && condition(this.state)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ condition, resolve }));
  }
}

/** Time that passes when the test says so. */
export class PlayedTimers implements Timers {
  #now = 0;
  #pending = new Set<{ due: number; run: () => void }>();

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, run: () => void): () => void {
    const timer = { due: this.#now + milliseconds, run };
    this.#pending.add(timer);
    return () => this.#pending.delete(timer);
  }

  /** Lets so much time pass; every timer due meanwhile fires at its moment. */
  pass(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (;;) {
      const next = [...this.#pending]
        .filter(({ due }) => due <= end)
        .sort((one, other) => one.due - other.due)[0];
      if (next === undefined) break;
      this.#pending.delete(next);
      this.#now = Math.max(this.#now, next.due);
      next.run();
    }
    this.#now = end;
  }
}

export class Kit {
  readonly folder = mkdtempSync(join(tmpdir(), 'holdfast-runtime-'));
  readonly model = new PlayedModel();
  readonly #windows: Window[] = [];

  /** One window on the shared folder. */
  async window(
    overrides: { isWindowAlive?: (windowId: string) => boolean; limits?: Partial<LifecycleLimits> } = {},
  ): Promise<Window> {
    const store = await openStore(this.folder);
    const log: string[] = [];
    const timers = new PlayedTimers();
    const hooks = new LifecycleHooks((line) => log.push(line));
    const memory: PlayedMemory = {
      commits: [],
      commit: async (id, isChanged) => void memory.commits.push({ id, isChanged }),
    };
    const rescue = new Rescue({
      storeFolder: this.folder,
      places: [join(this.folder, 'rescue')],
      newId: ulid,
      now: Date.now,
      log: (line) => log.push(line),
    });
    const registry = new RuntimeRegistry({
      store,
      rescue,
      model: () => this.model,
      modelPicker: () => ({ choices: [], selectedId: 'played', problem: null }),
      tools: () => [],
      system: () => 'Be brief.',
      now: Date.now,
      newId: ulid,
      isWindowAlive: overrides.isWindowAlive ?? (() => true),
      log: (line) => log.push(line),
      timers,
      hooks,
      memory,
      limits: () => ({ graceMs: 20_000, idleMs: 1_800_000, maximumRuntimes: 20, ...overrides.limits }),
    });
    const window = { store, registry, timers, hooks, memory, log };
    this.#windows.push(window);
    return window;
  }

  async close(): Promise<void> {
    for (const { store, registry } of this.#windows) {
      await registry.shutDown();
      await store.close();
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

interface PlayedMemory extends MemoryProvider {
  readonly commits: { readonly id: string; readonly isChanged: boolean }[];
}

export interface Window {
  readonly store: Store;
  readonly registry: RuntimeRegistry;
  readonly timers: PlayedTimers;
  readonly hooks: LifecycleHooks;
  readonly memory: PlayedMemory;
  readonly log: string[];
}

export function openStore(folder: string): Promise<Store> {
  return Store.open({ folder, wasm, checkpointWorkerFile: null, windowId: ulid() });
}

/** A new chat with a viewer on it. */
export async function newChat(
  window: Window,
  id = ulid(),
): Promise<{ runtime: ChatRuntime; viewer: RecordingViewer }> {
  const runtime = await window.registry.openOrCreate({
    id,
    workspaceUri: 'file:///bicycles',
    workspaceName: 'bicycles',
    modelId: null,
  });
  const viewer = new RecordingViewer();
  window.registry.attach(runtime, viewer);
  return { runtime, viewer };
}
