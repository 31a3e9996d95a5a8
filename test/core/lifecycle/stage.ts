/** Chats in windows, for tests that tell one story. */
import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import { branchChat, type BranchRequest } from '../../../src/core/runtime/branching.ts';
import type { ChatRuntime } from '../../../src/core/runtime/chatRuntime.ts';
import { listMessages } from '../../../src/core/store/messages.ts';
import { minute, Panel, rounds, until, type LiveWindow } from './world.ts';

export interface ShownChat {
  readonly id: string;
  readonly runtime: ChatRuntime;
  readonly panel: Panel;
}

/** A panel on the chat. */
export async function show(window: LiveWindow, id = ulid()): Promise<ShownChat> {
  const panel = new Panel(window, id);
  window.panels.set(id, panel);
  return { id, panel, runtime: await panel.attached() };
}

export async function turn(window: LiveWindow, runtime: ChatRuntime, text: string): Promise<void> {
  await runtime.send(ulid(), text);
  window.modelOf(runtime.session.modelId ?? '').answer('Hi');
  await until(() => !runtime.isRunning, 'the answer is over');
  await runtime.flush();
}

/** A chat with one turn: Hello, Hi. */
export async function answered(window: LiveWindow, id = ulid()): Promise<ShownChat> {
  const chat = await show(window, id);
  await turn(window, chat.runtime, 'Hello');
  await chat.panel.record();
  return chat;
}

/** A chat whose answer runs: Go, Begun. */
export async function running(window: LiveWindow): Promise<ShownChat> {
  const chat = await show(window);
  await chat.runtime.send(ulid(), 'Go');
  window.modelOf(chat.id).play({ type: 'text', text: 'Begun' });
  await until(() => chat.runtime.state.messages.at(-1)?.text === 'Begun', 'it speaks');
  await chat.runtime.flush();
  await chat.panel.record();
  return chat;
}

/** Closes the panel, so that the lease is free. */
export async function letGo(window: LiveWindow, id: string): Promise<void> {
  await window.panels.get(id)?.leave('disposed');
  window.panels.delete(id);
  window.timers.pass(60 * minute);
  await window.settled();
  await rounds(4);
  assert.equal(window.registry.get(id), undefined);
}

export function textsOf(window: LiveWindow, id: string): string[] {
  return window.store.read((reader) => listMessages(reader, id)).map(({ text }) => text);
}

/** A branch that ends with the chat's last message, unless asked for otherwise. Resolves to its id. */
export async function branchIn(
  window: LiveWindow,
  sessionId: string,
  wanted: Partial<BranchRequest> = {},
): Promise<string> {
  const id = wanted.id ?? ulid();
  const services = { store: window.store, registry: window.registry, newId: ulid, now: Date.now };
  await branchChat(services, { sessionId, messageId: null, cut: 'through', text: '', ...wanted, id });
  return id;
}
