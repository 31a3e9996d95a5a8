/** The tests' stand-in for the extension host: one chat, run by the same reducer, told to one page. */
import type { Page } from 'playwright-core';
import * as v from 'valibot';
import type { HostMessage, ModelPicker } from '../../../src/core/protocol/hostMessages.ts';
import { pageMessageSchema, type PageMessage } from '../../../src/core/protocol/pageMessages.ts';
import type { ChatEvent } from '../../../src/core/session/events.ts';
import { emptyDraft, type Draft, type Message } from '../../../src/core/session/model.ts';
import { makeChatState, reduce, type ChatState } from '../../../src/core/session/reducer.ts';
import { until } from '../vscode/until.ts';
import { makeTestSession } from './builders.ts';

export interface FakeHostOptions {
  readonly messages?: readonly Message[];
  readonly chat?: Partial<ChatState>;
  readonly draft?: Draft;
  /** How many of the newest messages a snapshot holds. */
  readonly pageSize?: number;
  readonly models?: ModelPicker;
  /** The panel lost its state: the host answers `ready` with this question. */
  readonly choices?: ChatChoices;
}

export type ChatChoices = Extract<HostMessage, { type: 'chooseChat' }>['choices'];

const twoModels: ModelPicker = {
  choices: [
    { id: 'offline', name: 'Offline guide', detail: 'Built in: searches this workspace, no language model' },
    { id: 'local/llama', name: 'Llama 3.3', detail: 'http://127.0.0.1:11434' },
  ],
  selectedId: 'offline',
  problem: null,
};

/** As text, because that is far quicker than what the browser's driver makes of objects. Resolves to its characters. */
export async function deliverTo(page: Page, messages: readonly HostMessage[]): Promise<number> {
  const text = JSON.stringify(messages);
  await page.evaluate((batch) => {
    for (const message of JSON.parse(batch) as readonly unknown[]) window.postMessage(message, '*');
  }, text);
  return text.length;
}

export class FakeHost {
  readonly posts: PageMessage[] = [];
  /** Characters of everything delivered. */
  delivered = 0;
  answersReady = true;
  answersPings = true;
  runtimeId = 'runtime-1';
  seq = 0;
  state: ChatState;
  draft: Draft;
  models: ModelPicker;
  choices: ChatChoices | null;
  readonly #pageSize: number;
  #page: Page | null = null;

  constructor({
    messages = [],
    chat = {},
    draft = emptyDraft,
    pageSize = 100,
    models,
    choices,
  }: FakeHostOptions = {}) {
    this.state = { ...makeChatState(makeTestSession(), messages), ...chat };
    this.draft = draft;
    this.models = models ?? twoModels;
    this.choices = choices ?? null;
    this.#pageSize = pageSize;
  }

  async attach(page: Page): Promise<void> {
    this.#page = page;
    await page.exposeFunction('postToFakeHost', (raw: unknown) => this.#receive(raw));
  }

  async deliver(...messages: readonly HostMessage[]): Promise<void> {
    if (this.#page === null) throw new Error('The fake host has no page yet');
    this.delivered += await deliverTo(this.#page, messages);
  }

  /** Applies and tells; several events go in one step. */
  async emit(...events: readonly ChatEvent[]): Promise<void> {
    await this.deliver(...events.map((event) => this.apply(event)));
  }

  /** Applies without telling: the message gets lost. */
  apply(event: ChatEvent): HostMessage {
    this.state = reduce(this.state, event);
    this.seq += 1;
    return { type: 'event', runtimeId: this.runtimeId, seq: this.seq, event };
  }

  snapshot(): HostMessage {
    const messages = this.state.messages.slice(-this.#pageSize);
    const hasOlder = messages.length < this.state.messages.length;
    return {
      type: 'snapshot',
      runtimeId: this.runtimeId,
      seq: this.seq,
      chat: { ...this.state, messages, hasOlder },
      draft: this.draft,
      models: this.models,
    };
  }

  #answer(): HostMessage {
    return this.choices === null ? this.snapshot() : { type: 'chooseChat', choices: this.choices };
  }

  posted<Type extends PageMessage['type']>(type: Type): Extract<PageMessage, { type: Type }>[] {
    return this.posts.filter((post): post is Extract<PageMessage, { type: Type }> => post.type === type);
  }

  async waitForPost<Type extends PageMessage['type']>(
    type: Type,
    count = 1,
  ): Promise<Extract<PageMessage, { type: Type }>> {
    return until(() => this.posted(type)[count - 1], { what: `the page's message ${type} (${count})` });
  }

  #receive(raw: unknown): void {
    const message = v.parse(pageMessageSchema, raw);
    this.posts.push(message);
    if (message.type === 'ready' && this.answersReady) void this.deliver(this.#answer());
    if (message.type === 'ping' && this.answersPings) {
      void this.deliver({ type: 'pong', nonce: message.nonce });
    }
    if (message.type === 'loadOlder') void this.#deliverOlder(message.before);
    if (message.type === 'draft') this.draft = message.draft;
  }

  async #deliverOlder(before: string): Promise<void> {
    const index = this.state.messages.findIndex((message) => message.id === before);
    const start = Math.max(0, index - this.#pageSize);
    await this.deliver({
      type: 'event',
      runtimeId: this.runtimeId,
      seq: this.seq,
      event: {
        type: 'olderLoaded',
        messages: this.state.messages.slice(start, index),
        hasOlder: start > 0,
      },
    });
  }
}
