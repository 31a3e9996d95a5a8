/**
 * Several windows of one user on one store, in one process: everything real but the editor, the model and the passing of time.
 * A window can be killed: nothing of it is written any more, its files stay open, and its presence says that its process is gone.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ulid } from 'ulid';
import type { ChatRuntime } from '../../../src/core/runtime/chatRuntime.ts';
import { LifecycleHooks } from '../../../src/core/runtime/hooks.ts';
import { DigestMemory } from '../../../src/core/runtime/memory.ts';
import { PanelRoutes } from '../../../src/core/runtime/panelRoutes.ts';
import { RuntimeRegistry, type LifecycleLimits, type NewChat } from '../../../src/core/runtime/registry.ts';
import { Rescue, type RescuedFile } from '../../../src/core/runtime/rescue.ts';
import { startWindow } from '../../../src/core/runtime/startWindow.ts';
import type { FileLayer } from '../../../src/core/store/fileLayer.ts';
import { Store } from '../../../src/core/store/store.ts';
import { PlayedModel, PlayedTimers, RecordingViewer } from '../runtime/kit.ts';
import { filesWithoutSync } from '../store/support/stores.ts';
import { wasmFile } from '../store/support/values.ts';

export const minute = 60_000;
export const maximumRuntimes = 3;

/** What the panel of the extension does, without a page: it shows one chat, and comes back to it when its runtime was given back. */
export class Panel extends RecordingViewer {
  readonly id: string;
  #window: LiveWindow;
  #chatId: string;
  #runtime: ChatRuntime | null = null;

  constructor(window: LiveWindow, chatId: string, id = ulid()) {
    super();
    this.#window = window;
    this.#chatId = chatId;
    this.id = id;
  }

  get chatId(): string {
    return this.#chatId;
  }

  /** The runtime it shows; opened if need be. */
  async attached(): Promise<ChatRuntime> {
    if (this.#runtime !== null && !this.#runtime.isFinalized) return this.#runtime;
    const chatId = this.#chatId;
    const runtime = await this.#window.registry.openOrCreate(newChat(chatId));
    if (this.#chatId !== chatId) return this.attached(); // it was told to show another chat meanwhile
    if (this.#runtime === runtime) return runtime;
    this.#runtime = runtime;
    this.#window.registry.attach(runtime, this);
    await this.record();
    return runtime;
  }

  async show(chatId: string): Promise<void> {
    const runtime = this.#runtime;
    this.#chatId = chatId;
    this.#runtime = null;
    if (runtime !== null) await this.#window.registry.detach(runtime, this, 'disposed');
    await this.attached();
  }

  async leave(departure: 'disposed' | 'lost'): Promise<void> {
    this.visible = false;
    if (departure === 'disposed') await this.#window.routes.closed(this.id);
    if (this.#runtime !== null) await this.#window.registry.detach(this.#runtime, this, departure);
  }

  override reclaimed(): void {
    super.reclaimed();
    this.#runtime = null;
    if (this.visible) this.#window.later(() => this.attached());
  }

  async record(): Promise<void> {
    const session = this.#runtime?.session;
    if (session === undefined || session.lastActivitySeq === 0) return;
    await this.#window.routes.record(this.id, session, { title: session.title, viewColumn: 1 });
  }
}

export interface LiveWindow {
  readonly id: string;
  readonly store: Store;
  readonly registry: RuntimeRegistry;
  readonly routes: PanelRoutes;
  readonly timers: PlayedTimers;
  readonly hooks: LifecycleHooks;
  /** What it found at its start. */
  readonly rescued: readonly RescuedFile[];
  /** What every chat shows here, by the chat's first id. */
  readonly panels: Map<string, Panel>;
  readonly log: string[];
  /** The model of a chat in this window. */
  modelOf(chatId: string): PlayedModel;
  /** Runs something that nobody waits for but the end of the step. */
  later(run: () => Promise<unknown>): void;
  /** Its process dies: nothing of it is written any more. `chatIds`: every chat there may be. */
  kill(chatIds: readonly string[]): void;
  /** Resolves when nothing is left to do. */
  settled(): Promise<void>;
}

export function newChat(id: string): NewChat {
  // The model's name is the chat's, so that each chat has a model of its own to play.
  return { id, workspaceUri: 'file:///bicycles', workspaceName: 'bicycles', modelId: id };
}

/** Rounds of the event loop; the stores here do not wait for a disk. */
export async function rounds(count: number): Promise<void> {
  for (let round = 0; round < count; round++) await new Promise(setImmediate);
}

export async function until(condition: () => boolean, what: string): Promise<void> {
  const start = performance.now();
  while (!condition()) {
    assert.ok(performance.now() - start < 5000, `waited in vain until ${what}`);
    await new Promise(setImmediate);
  }
}

export class World {
  readonly folder: string;
  /** Where windows keep what they cannot save. */
  readonly rescuePlaces: string[];
  /** Nothing can be written into the store while it is. */
  isDiskFull = false;
  readonly #opened: LiveWindow[] = [];
  readonly #deadProcesses = new Set<number>();

  constructor(folder = mkdtempSync(join(tmpdir(), 'holdfast-lifecycle-'))) {
    this.folder = folder;
    this.rescuePlaces = [join(folder, 'rescue')];
  }

  /** Starts a window, as the extension does: answers of the dead are marked, routes healed. */
  async start(limits: Partial<LifecycleLimits> = {}): Promise<LiveWindow> {
    const processId = this.#opened.length + 1;
    const store = await this.#openStore(processId);
    const log: string[] = [];
    const write = (line: string) => void log.push(line);
    const isWindowAlive = (id: string) => store.isWindowAlive(id);
    const rescue = new Rescue({
      storeFolder: this.folder,
      places: this.rescuePlaces,
      newId: ulid,
      now: Date.now,
      log: write,
    });
    const rescued = await startWindow({ store, rescue, now: Date.now, log: write });
    const timers = new PlayedTimers();
    const hooks = new LifecycleHooks(write);
    const models = new Map<string, PlayedModel>();
    const modelOf = (chatId: string): PlayedModel => {
      const model = models.get(chatId) ?? new PlayedModel();
      models.set(chatId, model);
      return model;
    };
    const registry = new RuntimeRegistry({
      store,
      model: (modelId) => modelOf(modelId ?? ''),
      modelPicker: () => ({ choices: [], selectedId: 'played', problem: null }),
      tools: () => [],
      system: () => '',
      now: Date.now,
      newId: ulid,
      isWindowAlive,
      log: write,
      timers,
      hooks,
      memory: new DigestMemory(store, Date.now),
      rescue,
      limits: () => ({ graceMs: 20_000, idleMs: 30 * minute, maximumRuntimes, ...limits }),
    });
    let pending: Promise<unknown>[] = [];
    const panels = new Map<string, Panel>();
    const window: LiveWindow = {
      id: store.windowId,
      store,
      registry,
      routes: new PanelRoutes({ store, workspaceUri: 'file:///bicycles', now: Date.now }),
      timers,
      hooks,
      rescued,
      panels,
      log,
      modelOf,
      later: (run) => void pending.push(run()),
      kill: (chatIds) => {
        for (const panel of panels.values()) panel.visible = false;
        for (const id of chatIds) registry.get(id)?.dispose(); // its timers would fire in this process
        this.#deadProcesses.add(processId);
      },
      settled: async () => {
        store.read(() => undefined); // brings what other windows wrote
        await rounds(4);
        while (pending.length > 0) {
          const waiting = pending;
          pending = [];
          await Promise.all(waiting);
        }
      },
    };
    this.#opened.push(window);
    return window;
  }

  /** Takes the folder away; also what the killed windows left open. */
  async close(): Promise<void> {
    await this.end();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Closes every window in order. */
  async end(): Promise<void> {
    for (const { store, panels, registry } of this.#opened) {
      for (const panel of panels.values()) panel.visible = false;
      await registry.shutDown();
      await store.close();
    }
  }

  #openStore(processId: number): Promise<Store> {
    const append: FileLayer['append'] = (descriptor, bytes) => {
      if (this.#deadProcesses.has(processId)) throw Object.assign(new Error('killed'), { code: 'EIO' });
      if (this.isDiskFull) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      return filesWithoutSync.append(descriptor, bytes);
    };
    return Store.open({
      folder: this.folder,
      wasm: wasmFile,
      checkpointWorkerFile: null,
      windowId: ulid(),
      followInterval: 0,
      files: { ...filesWithoutSync, append },
      probe: {
        pid: processId,
        start: null,
        host: 'host',
        isRunning: (pid) => !this.#deadProcesses.has(pid),
        isInUse: (pid) => !this.#deadProcesses.has(pid),
      },
    });
  }
}

/** Two windows on a folder of their own, made for each test of a suite and told to it. Call inside `describe`. */
export function twoWindows(tell: (here: LiveWindow, other: LiveWindow, world: World) => void): void {
  let world: World | undefined;
  beforeEach(async () => {
    world = new World();
    tell(await world.start(), await world.start(), world);
  });
  afterEach(() => world?.close());
}
