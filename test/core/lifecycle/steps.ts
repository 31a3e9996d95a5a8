/** What users and accidents do, each with what must come of it. */
import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import { ownerGlanceMs } from '../../../src/core/runtime/ownerWatch.ts';
import type { ChatRuntime } from '../../../src/core/runtime/chatRuntime.ts';
import { getLease } from '../../../src/core/store/leases.ts';
import { forksOf } from '../../../src/core/store/forks.ts';
import { rootOf, tipOf } from '../../../src/core/store/lineage.ts';
import { getSession, setSessionModel } from '../../../src/core/store/sessions.ts';
import { displayMessages, modelMessages } from '../../../src/core/store/transcript.ts';
import { assertForks, assertMessages, assertShown, ExpectedChat } from './expected.ts';
import { branchIn } from './stage.ts';
import { maximumRuntimes, minute, newChat, Panel, until, World, type LiveWindow } from './world.ts';

export const windowCount = 3;
export const chatCount = 5;

/** The reference beside the real thing. */
export class Stage {
  readonly world = new World();
  readonly windows: (LiveWindow | null)[] = Array.from({ length: windowCount }, () => null);
  /** The chats that are worked with. */
  readonly chats = Array.from({ length: chatCount }, () => new ExpectedChat(ulid()));
  /** Those that were replaced by a new one. */
  readonly left: ExpectedChat[] = [];
  #texts = 0;
  #numbers = 0;
  #compared = 0;

  get all(): readonly ExpectedChat[] {
    return [...this.chats, ...this.left];
  }

  /** The chats that have relatives. */
  get branched(): readonly ExpectedChat[] {
    return this.all.filter(({ family }) => this.all.filter((other) => other.family === family).length > 1);
  }

  get live(): readonly LiveWindow[] {
    return this.windows.filter((window) => window !== null);
  }

  chat(index: number): ExpectedChat {
    const chat = this.chats[index];
    assert.ok(chat !== undefined);
    return chat;
  }

  /** The window, started if it is not there. */
  async window(index: number): Promise<LiveWindow> {
    const known = this.windows[index] ?? null;
    if (known !== null) return known;
    const window = await this.world.start();
    this.windows[index] = window;
    for (const { messages } of this.all) {
      for (const message of messages) if (message.status === 'cut') message.status = 'interrupted';
    }
    return window;
  }

  /** The window's panel on the chat, opened if there is none. */
  async panel(index: number, chat: ExpectedChat): Promise<Panel> {
    const window = await this.window(index);
    const panel = window.panels.get(chat.id) ?? new Panel(window, chat.id);
    window.panels.set(chat.id, panel);
    panel.visible = true;
    await panel.attached();
    return panel;
  }

  /** Some whole number below `limit`, the same in each run. */
  number(limit: number): number {
    this.#numbers += 1;
    return (this.#numbers * 7) % Math.max(1, limit);
  }

  text(): string {
    this.#texts += 1;
    return `words ${this.#texts}. `;
  }

  /** Lets everything come to rest, then compares. */
  async settled(): Promise<void> {
    for (let round = 0; round < 3; round++) {
      for (const window of this.live) await window.settled();
    }
    for (const chat of this.all) {
      const writer = this.live.find(({ id }) => id === chat.writer);
      if (writer?.registry.get(chat.id)?.lease == null) chat.writer = null;
    }
  }

  async compare(): Promise<void> {
    await this.settled();
    for (const window of this.live) {
      for (const [chatId, panel] of window.panels) {
        const chat = this.all.find(({ id }) => id === chatId);
        if (chat === undefined || panel.state === null || !panel.visible) continue;
        assertMessages(panel.state.messages, chat, 'the panel');
        const forks = window.store.read((reader) => forksOf(reader, chatId));
        assert.deepEqual(
          panel.state.forks.map(({ chats, current }) => ({ chats, current })),
          forks.map(({ chats, current }) => ({ chats, current })),
          'the forks of the panel',
        );
      }
    }
    // Windows of one journal hold the same; that they do is held by the store's own tests.
    this.#compared += 1;
    const window = this.live[this.#compared % this.live.length];
    if (window === undefined) return;
    const { store } = window;
    assertShown(store, this.all);
    assertForks(store, this.branched);
    for (const chat of this.all.filter(({ streamsIn }) => streamsIn !== null)) {
      const lease = store.read((reader) => getLease(reader, tipOf(reader, chat.id)));
      assert.deepEqual([lease?.isHeld, lease?.windowId], [true, chat.streamsIn], 'the lease of an answer');
    }
  }
}

export interface Place {
  readonly window: number;
  readonly chat: number;
}
export type Step = (stage: Stage, place: Place) => Promise<void>;

const open: Step = async (stage, place) => {
  await stage.panel(place.window, stage.chat(place.chat));
};

const leave =
  (departure: 'disposed' | 'lost'): Step =>
  async (stage, place) => {
    const chat = stage.chat(place.chat);
    const window = stage.windows[place.window];
    const panel = window?.panels.get(chat.id);
    window?.panels.delete(chat.id);
    await panel?.leave(departure);
  };

const hide: Step = async (stage, place) => {
  const panel = stage.windows[place.window]?.panels.get(stage.chat(place.chat).id);
  if (panel !== undefined) panel.visible = false;
};

const send: Step = async (stage, place) => {
  const chat = stage.chat(place.chat);
  const panel = await stage.panel(place.window, chat);
  const window = await stage.window(place.window);
  const runtime = await panel.attached();
  const isTaken = chat.writer !== null && chat.writer !== window.id;
  const mayRefuse = chat.endedAs !== null || runtime.isRunning || isTaken;
  const text = stage.text();
  const isSent = await isAccepted(() => runtime.send(ulid(), text), mayRefuse);
  if (!isSent) return;
  await runtime.flush();
  chat.asked(text, window.id);
  await panel.record();
};

/** The model says something. What a window says that lost the chat meanwhile is refused. */
const speak =
  (isEnd: boolean): Step =>
  async (stage, place) => {
    const chat = stage.chat(place.chat);
    const window = stage.windows[place.window] ?? null;
    const runtime = window?.registry.get(chat.id);
    if (window === null || runtime?.isRunning !== true) return;
    const text = stage.text();
    const model = window.modelOf(chat.id);
    if (chat.streamsIn !== window.id) {
      model.answer(text);
      await until(() => !runtime.isRunning, 'the refused answer has stopped');
      await runtime.flush();
      return;
    }
    if (isEnd) model.answer(text);
    else model.play({ type: 'text', text });
    await until(() => textOf(runtime).endsWith(text), 'the text is shown');
    if (isEnd) await until(() => !runtime.isRunning, 'the answer is over');
    await runtime.flush();
    assert.equal(runtime.hasUnwritten, false);
    chat.answer.text += text;
    if (isEnd) chat.answered('complete');
  };

const stop: Step = async (stage, place) => {
  const chat = stage.chat(place.chat);
  const window = stage.windows[place.window] ?? null;
  const runtime = window?.registry.get(chat.id);
  if (window === null || runtime === undefined) return;
  await runtime.stop();
  assert.equal(runtime.isRunning, false);
  if (chat.streamsIn === window.id) chat.answered('interrupted');
};

const archive: Step = async (stage, place) => {
  const chat = stage.chat(place.chat);
  const window = await stage.window(place.window);
  if (!(await isAccepted(() => window.registry.archive(chat.id), !isStored(window, chat)))) return;
  chat.endedAs ??= 'archived';
  chat.answered('interrupted');
  chat.writer = null;
};

const archiveAndStartNew: Step = async (stage, place) => {
  const chat = stage.chat(place.chat);
  const panel = await stage.panel(place.window, chat);
  const window = await stage.window(place.window);
  const next = new ExpectedChat(ulid());
  const start = () => window.registry.archiveAndStartNew(chat.id, `panel:${panel.id}`, newChat(next.id));
  if (!(await isAccepted(start, !isStored(window, chat)))) return;
  chat.endedAs ??= 'session_reset';
  chat.answered('interrupted');
  chat.writer = null;
  stage.left.push(chat);
  stage.chats[place.chat] = next;
  window.panels.delete(chat.id);
  window.panels.set(next.id, panel);
  await panel.show(next.id);
};

const reopen: Step = async (stage, place) => {
  const chat = stage.chat(place.chat);
  const window = await stage.window(place.window);
  if (!isStored(window, chat)) return;
  await window.registry.reopen(chat.id);
  chat.endedAs = null;
};

const compact: Step = async (stage, place) => {
  const chat = stage.chat(place.chat);
  const window = await stage.window(place.window);
  if (chat.messages.length === 0) return;
  const runtime = await window.registry.open(chat.id);
  const isTaken = chat.writer !== null && chat.writer !== window.id;
  const isShort = window.store
    .read((reader) => modelMessages(reader, tipOf(reader, chat.id)))
    .every(({ role }) => role === 'summary');
  const mayRefuse = chat.endedAs !== null || runtime.isRunning || isTaken;
  const isDone = await isAccepted(() => window.registry.compact(chat.id), mayRefuse || isShort);
  if (!mayRefuse) chat.writer = window.id;
  if (isDone) await window.panels.get(chat.id)?.record();
};

/** The window writes the chat from now on; the one that did follows it, and an answer that ran there is cut off. */
const takeOver: Step = async (stage, place) => {
  const chat = stage.chat(place.chat);
  const window = await stage.window(place.window);
  const runtime = await (await stage.panel(place.window, chat)).attached();
  const isTaken = chat.writer !== null && chat.writer !== window.id;
  if (!(await isAccepted(() => runtime.takeOver(), chat.endedAs !== null))) return;
  if (!isTaken) return;
  chat.answered('interrupted');
  chat.writer = window.id;
};

/** A chat of its own, out of another at some message of it; it is worked with from now on. */
const branch =
  (cut: 'through' | 'before'): Step =>
  async (stage, place) => {
    const chat = stage.chat(place.chat);
    const window = await stage.window(place.window);
    const count = stage.number(chat.messages.length);
    const message = window.store
      .read((reader) => displayMessages(reader, chat.id).messages)
      .filter(({ role }) => role !== 'summary')[count];
    if (message === undefined || (cut === 'before' && message.role !== 'user')) return;
    const id = await branchIn(window, chat.id, { messageId: message.id, cut });
    const root = window.store.read((reader) => rootOf(reader, id));
    // A model of its own to play.
    await window.store.write((writer) => setSessionModel(writer, id, root));
    const slot = (place.chat + 1) % chatCount;
    stage.left.push(stage.chat(slot));
    stage.chats[slot] = chat.branch(root, cut === 'through' ? count + 1 : count);
    // An edited prompt is sent in the branch.
    if (cut === 'before') await send(stage, { window: place.window, chat: slot });
  };

/** Nobody looks at the window for a long time. */
const idle: Step = async (stage, place) => {
  const window = stage.windows[place.window] ?? null;
  if (window === null) return;
  for (const panel of window.panels.values()) panel.visible = false;
  window.timers.pass(31 * minute);
  await stage.settled();
  window.timers.pass(31 * minute); // a runtime that lost its viewer in a turn has the grace time first
  await stage.settled();
  const running = stage.all.filter(({ id }) => window.registry.get(id)?.isRunning === true);
  assert.equal(window.registry.size, running.length, 'what idles is given back');
};

/** More chats than a window keeps. */
const evict: Step = async (stage, place) => {
  const window = await stage.window(place.window);
  for (const panel of window.panels.values()) panel.visible = false;
  for (let count = 0; count < maximumRuntimes; count++) {
    const panel = new Panel(window, ulid());
    await panel.attached();
    panel.visible = false;
  }
  await stage.settled();
  const running = stage.all.filter(({ id }) => window.registry.get(id)?.isRunning === true);
  assert.ok(window.registry.size <= Math.max(maximumRuntimes, running.length + 1));
};

const sleep: Step = async (stage) => {
  for (const window of stage.live) window.timers.pass(60 * minute);
};

/** The window is reloaded: everything is written, answers are cut off, and its panels come back. */
const reload: Step = async (stage, place) => {
  const window = stage.windows[place.window] ?? null;
  if (window === null) return;
  const panels = [...window.panels.values()].map(({ id, chatId }) => ({ id, chatId }));
  for (const panel of window.panels.values()) panel.visible = false;
  await window.registry.shutDown();
  await window.routes.release();
  await window.store.close();
  stage.windows[place.window] = null;
  for (const chat of stage.all) {
    if (chat.streamsIn === window.id) chat.answered('interrupted');
    if (chat.writer === window.id) chat.writer = null;
  }
  await comeBack(stage, place, panels);
};

/** The window's process dies and is not seen again. */
const crash: Step = async (stage, place) => {
  const window = stage.windows[place.window] ?? null;
  if (window === null) return;
  window.kill(stage.all.map(({ id }) => id));
  stage.windows[place.window] = null;
  for (const chat of stage.all) {
    if (chat.streamsIn === window.id) chat.answered('cut');
    if (chat.writer === window.id) chat.writer = null;
  }
  // Others look now and then whether the window they follow still lives.
  for (const other of stage.live) other.timers.pass(ownerGlanceMs);
};

const crashAndRestart: Step = async (stage, place) => {
  const window = stage.windows[place.window] ?? null;
  const panels = [...(window?.panels.values() ?? [])].map(({ id, chatId }) => ({ id, chatId }));
  await crash(stage, place);
  await comeBack(stage, place, panels);
};

async function comeBack(
  stage: Stage,
  place: Place,
  panels: readonly { id: string; chatId: string }[],
): Promise<void> {
  const window = await stage.window(place.window);
  for (const { id, chatId } of panels) {
    assert.ok(await window.routes.claim(id), 'a restored panel gets its route back');
    const panel = new Panel(window, chatId, id);
    window.panels.set(chatId, panel);
    await panel.attached();
  }
}

export const steps: Readonly<Record<string, Step>> = {
  open,
  close: leave('disposed'),
  lose: leave('lost'),
  hide,
  send,
  stream: speak(false),
  answer: speak(true),
  stop,
  archive,
  archiveAndStartNew,
  reopen,
  compact,
  takeOver,
  branch: branch('through'),
  edit: branch('before'),
  idle,
  evict,
  sleep,
  reload,
  crash,
  crashAndRestart,
};

/** At the end a window that was not there before opens every chat, and those that are not archived go on. */
export async function finish(stage: Stage): Promise<void> {
  for (const window of stage.live) window.kill(stage.all.map(({ id }) => id));
  for (const chat of stage.all) {
    chat.answered('cut');
    chat.writer = null;
  }
  stage.windows.fill(null);
  const window = await stage.window(0);
  await stage.compare();
  for (const chat of stage.all.filter(({ messages }) => messages.length > 0)) {
    const runtime = await window.registry.open(chat.id);
    assertMessages(runtime.state.messages, chat, 'opened');
    const text = stage.text();
    if (!(await isAccepted(() => runtime.send(ulid(), text), chat.endedAs !== null))) continue;
    await runtime.stop();
    chat.asked(text, window.id);
    chat.answered('interrupted');
  }
  await stage.compare();
}

/** Whether it was done; `mayRefuse` says what must come of it: a refusal with a reason, or no refusal. */
async function isAccepted(run: () => Promise<unknown>, mayRefuse: boolean): Promise<boolean> {
  try {
    await run();
  } catch (error) {
    if (!mayRefuse) throw error;
    assert.match(reasonOf(error), /^(archived|running|not_owned|session_not_owned|nothing_to_do)$/);
    return false;
  }
  assert.equal(mayRefuse, false, 'it was to be refused');
  return true;
}

function reasonOf(error: unknown): string {
  return error instanceof Error && 'reason' in error ? String(error.reason) : String(error);
}

/** An empty chat is not stored, unless it took the place of another. */
function isStored(window: LiveWindow, chat: ExpectedChat): boolean {
  return window.store.read((reader) => getSession(reader, chat.id)) !== null;
}

function textOf(runtime: ChatRuntime): string {
  return runtime.state.messages.at(-1)?.text ?? '';
}
