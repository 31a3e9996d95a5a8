import type { FrameLocator, Locator } from 'playwright-core';
import { until } from './until.ts';
import type { VscodeWindow } from './window.ts';

export type Author = 'You' | 'Assistant';

export type PanelButton =
  | 'Send'
  | 'Send anyway'
  | 'Stop'
  | 'Continue'
  | 'Retry'
  | 'Reopen'
  | 'Take over here'
  | 'Branch from here'
  | 'Approve'
  | 'Reject'
  | 'Jump to newest';

/** One message as the transcript shows it. */
export interface ShownMessage {
  readonly identifier: string;
  readonly author: string;
  readonly status: string;
  readonly text: string;
}

/**
 * The chat panel as a user of assistive technology meets it: by role and accessible name only. These names are a
 * contract of the product; a test that needs another handle has found something a user cannot find either.
 */
export class ChatPanel {
  readonly frame: FrameLocator;

  constructor(frame: FrameLocator) {
    this.frame = frame;
  }

  get composer(): Locator {
    return this.frame.getByRole('textbox', { name: 'Message', exact: true });
  }

  get conversation(): Locator {
    return this.frame.getByRole('log', { name: 'Conversation', exact: true });
  }

  /** A combobox or a button, whichever the page chose. */
  get modelPicker(): Locator {
    const name = /^Model: /;
    return this.frame.getByRole('combobox', { name }).or(this.frame.getByRole('button', { name }));
  }

  /** Notices about the state of the chat: interrupted, not saved yet, archived, provider errors. */
  get notices(): Locator {
    return this.frame.getByRole('status');
  }

  notice(text: string | RegExp): Locator {
    return this.notices.filter({ hasText: text });
  }

  button(name: PanelButton): Locator {
    return this.frame.getByRole('button', { name, exact: true });
  }

  messages(author?: Author): Locator {
    return author === undefined
      ? this.conversation.getByRole('article')
      : this.conversation.getByRole('article', { name: author, exact: true });
  }

  messageById(identifier: string): Locator {
    return this.conversation.locator(`[data-message-id="${identifier}"]`);
  }

  lastMessage(author?: Author): Locator {
    return this.messages(author).last();
  }

  toolCard(name: string): Locator {
    return this.conversation.getByRole('group', { name: `Tool: ${name}`, exact: true });
  }

  toolCards(): Locator {
    return this.conversation.getByRole('group', { name: /^Tool: / });
  }

  link(name: string | RegExp): Locator {
    return this.conversation.getByRole('link', { name });
  }

  async ready(timeout = 30_000): Promise<void> {
    await this.composer.or(this.button('Reopen')).first().waitFor({ timeout });
  }

  async draft(): Promise<string> {
    return this.composer.evaluate((element) =>
      element instanceof HTMLTextAreaElement || element instanceof HTMLInputElement
        ? element.value
        : (element.textContent ?? ''),
    );
  }

  /** Types without sending. */
  async type(text: string): Promise<void> {
    await this.composer.click();
    await this.composer.pressSequentially(text);
  }

  /** Puts the text into the composer and sends it with Enter, as most users do. */
  async send(text: string): Promise<void> {
    await this.composer.fill(text);
    // A page that has just opened may not have its chat yet; until then Enter keeps the words in the composer.
    await this.button('Send').and(this.frame.locator(':enabled')).waitFor({ timeout: 60_000 });
    await this.composer.press('Enter');
  }

  async shownMessages(): Promise<ShownMessage[]> {
    return this.messages().evaluateAll((elements) =>
      elements.map((element) => ({
        identifier: element.getAttribute('data-message-id') ?? '',
        author: element.getAttribute('aria-label') ?? '',
        status: element.getAttribute('data-status') ?? '',
        text: element.textContent ?? '',
      })),
    );
  }

  async textOf(message: Locator): Promise<string> {
    return (await message.textContent()) ?? '';
  }

  /** Waits until the last answer holds the text; streamed text counts. */
  async answerContains(text: string | RegExp, timeout = 30_000): Promise<void> {
    await this.lastMessage('Assistant').filter({ hasText: text }).waitFor({ timeout });
  }

  /** Waits until the last message of that author has one of the statuses, and gives that status. */
  async status(author: Author, wanted: readonly string[], timeout = 30_000): Promise<string> {
    const read = async () => {
      const statuses = await this.messages(author).evaluateAll((elements) =>
        elements.map((element) => element.getAttribute('data-status') ?? ''),
      );
      const last = statuses.at(-1);
      return last !== undefined && wanted.includes(last) && last;
    };
    return until(read, { what: `a message of ${author} with status ${wanted.join(' or ')}`, timeout });
  }

  /** How far the transcript is scrolled, for tests that it stays there. */
  async scrollTop(): Promise<number> {
    return this.conversation.evaluate((element) => element.scrollTop);
  }
}

/** The panel in the window's visible webview; the index counts visible webviews when several stand side by side. */
export function chatPanel(window: VscodeWindow, index = 0): ChatPanel {
  return new ChatPanel(window.webview(index));
}

/** Opens a chat by command ("Holdfast: New Chat", "Holdfast: Open Last Chat") and waits until it can be used. */
export async function openChat(window: VscodeWindow, command = 'Holdfast: New Chat'): Promise<ChatPanel> {
  await window.runCommand(command);
  const panel = chatPanel(window);
  await panel.ready();
  return panel;
}
