/**
 * `recall`: finds what was said in earlier chats of the workspace, and what memory kept of them. Newest first, because what
 * was said last holds.
 */
import * as v from 'valibot';
import { breathe } from './breathe.ts';
import { shorten, toLines } from './fileText.ts';
import { countBits, StemMatcher } from './stemMatcher.ts';
import { makeTool, ToolError, type Tool } from './tool.ts';
import { lineTokens, searchWords } from './words.ts';

/** Bounds of one search. */
const maxChats = 500;
const maxMessages = 20_000;
/** Milliseconds. */
const timeLimit = 5_000;
const pageSize = 25;
const maxResults = 50;
const maxResultsOfChat = 3;
const maxSnippetLength = 300;
/** What is shown of a long line before the first word that was found, in UTF-16 units. */
const leadLength = 60;

export interface EarlierChat {
  readonly id: string;
  readonly title: string;
  /** Unix time in milliseconds. */
  readonly lastActivityAt: number;
  /** The digest that memory keeps of it; null: none. */
  readonly memory: string | null;
}

interface EarlierMessage {
  readonly author: 'user' | 'assistant';
  /** Read when it is looked at: a long one is in a file of its own. */
  readonly text: () => string;
}

export interface EarlierMessages {
  /** Newest first; only what was said and still stands. */
  readonly messages: readonly EarlierMessage[];
  /** The page's oldest row, where the next page ends; null: there is none. */
  readonly next: string | null;
}

/** The chats of one workspace but the one that asks. */
export interface EarlierChats {
  /** Latest activity first; null: the chat that asks belongs to no workspace. */
  list(limit: number): readonly EarlierChat[] | null;
  /** `before`: where the page before ended; null: from the end. */
  page(chatId: string, before: string | null, limit: number): EarlierMessages;
}

interface Hit {
  readonly chat: EarlierChat;
  readonly author: EarlierMessage['author'] | 'memory';
  readonly snippet: string;
}

/** `clock`: monotonic milliseconds, for the time limit. */
export function makeRecallTool(chats: EarlierChats, clock: () => number): Tool {
  return makeTool({
    name: 'recall',
    description:
      'Looks through the earlier chats of this workspace, and what was kept of them, for the words of the query, ' +
      'whatever their form. Newest chats first; only the passages with most of the words. Use it when the user refers ' +
      'to something that was said or decided before this chat.',
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What it was about, in a few words.' },
        maxResults: { type: 'integer', minimum: 1, maximum: maxResults, default: 10 },
      },
      required: ['query'],
      additionalProperties: false,
    },
    schema: v.object({
      query: v.pipe(v.string(), v.trim(), v.nonEmpty('must not be empty')),
      maxResults: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(maxResults)), 10),
    }),
    async run({ query, maxResults }, { signal }) {
      const words = searchWords(query);
      if (words.length === 0) {
        throw new ToolError('arguments', `${query} has no words to look for; name what it was about.`);
      }
      const list = chats.list(maxChats);
      if (list === null)
        return '(This chat was made without a workspace, so there are no earlier chats of it.)';
      const search = new Search(chats, new StemMatcher(words), { maxResults, clock, signal });
      await search.run(list);
      const notes = search.notes.map((note) => `(${note})`);
      if (search.hits.length === 0) {
        return [`(Nothing about ${query} in the earlier chats of this workspace.)`, ...notes].join('\n');
      }
      return [...describe(search.hits.slice(0, maxResults)), ...notes].join('\n');
    },
  });
}

interface SearchOptions {
  readonly maxResults: number;
  readonly clock: () => number;
  readonly signal: AbortSignal;
}

class Search {
  readonly #chats: EarlierChats;
  readonly #matcher: StemMatcher;
  readonly #options: SearchOptions;
  #hits: Hit[] = [];
  /** How many of the words the hits hold: the most that any passage so far held. */
  #wordsHeld = 1;
  #notes: string[] = [];

  constructor(chats: EarlierChats, matcher: StemMatcher, options: SearchOptions) {
    this.#chats = chats;
    this.#matcher = matcher;
    this.#options = options;
  }

  /** In the order of the chats. */
  get hits(): readonly Hit[] {
    return this.#hits;
  }

  /** What the search left out, as sentences. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  async run(list: readonly EarlierChat[]): Promise<void> {
    const { clock, signal } = this.#options;
    const end = clock() + timeLimit;
    let breathing = performance.now();
    let messages = 0;
    if (list.length === maxChats) this.#notes.push(`Only the newest ${maxChats} chats were looked through.`);
    for (const [index, chat] of list.entries()) {
      if (this.#isFull()) return;
      if (chat.memory !== null) this.#look(chat, 'memory', chat.memory);
      let before: string | null = null;
      do {
        signal.throwIfAborted();
        if (clock() > end || messages >= maxMessages) {
          this.#notes.push(`Stopped early: ${list.length - index} older chats were not looked through.`);
          return;
        }
        const page: EarlierMessages = this.#chats.page(chat.id, before, pageSize);
        for (const { author, text } of page.messages) {
          this.#look(chat, author, text());
          breathing = await breathe(breathing);
        }
        messages += pageSize;
        before = page.next;
      } while (before !== null);
    }
  }

  /** Nothing further can be better, and older is not wanted. */
  #isFull(): boolean {
    const { maxResults } = this.#options;
    return this.#hits.length >= maxResults && this.#wordsHeld === this.#matcher.stems.length;
  }

  #look(chat: EarlierChat, author: Hit['author'], text: string): void {
    if (!this.#matcher.mayHold(text)) return;
    let held = 0;
    let best = { line: '', count: 0 };
    for (const line of toLines(text)) {
      const found = this.#matcher.find(line);
      held |= found;
      const count = countBits(found);
      if (count > best.count) best = { line, count };
    }
    const words = countBits(held);
    if (words < this.#wordsHeld) return;
    if (words > this.#wordsHeld) {
      this.#wordsHeld = words;
      this.#hits = [];
    }
    if (this.#hits.filter((hit) => hit.chat === chat).length >= maxResultsOfChat) return;
    this.#hits.push({ chat, author, snippet: this.#snippet(best.line) });
  }

  /** The line, from a little before the first word that was found. */
  #snippet(line: string): string {
    const text = line.trim();
    const first = lineTokens(text).find((token) => this.#matcher.find(token) !== 0) ?? '';
    const start = text.length <= maxSnippetLength ? 0 : text.indexOf(first) - leadLength;
    if (start <= 0) return shorten(text, maxSnippetLength);
    return `…${shorten(text.slice(start).replace(/^[\uDC00-\uDFFF]/, ''), maxSnippetLength - 1)}`;
  }
}

const authors = { user: 'User', assistant: 'Assistant', memory: 'Kept' } as const;

function describe(hits: readonly Hit[]): string[] {
  return hits.flatMap(({ chat, author, snippet }, index) => {
    const day = new Date(chat.lastActivityAt).toISOString().slice(0, 10);
    const heading = `"${chat.title}", ${day}:`;
    const line = `- ${authors[author]}: ${snippet}`;
    return hits[index - 1]?.chat === chat ? [line] : [heading, line];
  });
}
