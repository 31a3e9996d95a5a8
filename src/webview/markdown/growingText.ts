/**
 * A Markdown text that grows while it streams. Only its open end is parsed again; blocks that no later character can
 * change keep their tokens, by identity, and with them their DOM nodes.
 */
import type { Env, Token } from 'markdown-it';
import { countLineBreaks } from '../../core/session/text.ts';
import { parseBlocks } from './parser.ts';

export interface Block {
  readonly tokens: readonly Token[];
  /** Whether it can still change: its code is not coloured yet. */
  readonly isOpen: boolean;
}

export class GrowingText {
  #text = '';
  #closed: Block[] = [];
  /** Where the open end starts. */
  #openStart = 0;
  #environment: Env = {};
  #isFinished = false;
  #blocks: readonly Block[] = [];

  update(text: string, isFinished: boolean): readonly Block[] {
    if (text === this.#text && isFinished === this.#isFinished) return this.#blocks;
    if (!text.startsWith(this.#text)) this.#restart();
    this.#text = text;
    this.#isFinished = isFinished;
    this.#blocks = this.#parse(text, isFinished);
    return this.#blocks;
  }

  #parse(text: string, isFinished: boolean): readonly Block[] {
    const open = text.slice(this.#openStart);
    const parsed = parseBlocks(open, this.#environment);
    if (isFinished) {
      return [...this.#closed, ...parsed.map(({ tokens }) => ({ tokens, isOpen: false }))];
    }
    const closing = countClosed(open, parsed);
    const first = parsed[closing];
    if (closing > 0 && first !== undefined) {
      this.#closed.push(...parsed.slice(0, closing).map(({ tokens }) => ({ tokens, isOpen: false })));
      this.#openStart += offsetOfLine(open, first.firstLine);
    }
    return [...this.#closed, ...parsed.slice(closing).map(({ tokens }) => ({ tokens, isOpen: true }))];
  }

  #restart(): void {
    this.#closed = [];
    this.#openStart = 0;
    this.#environment = {};
  }
}

/**
 * How many blocks are closed for good. One that starts on the last, unfinished line may yet turn out to belong to the
 * block before (`#` becomes `#tag`, `2` becomes the list item `2.`), unless that one had ended anyway.
 */
function countClosed(text: string, blocks: ReturnType<typeof parseBlocks>): number {
  const lastLine = countLineBreaks(text);
  const lastWhole = blocks.findLastIndex((block) => block.firstLine < lastLine);
  const before = blocks[lastWhole];
  const isFollowed = lastWhole < blocks.length - 1;
  if (before === undefined) return 0;
  return isFollowed && hasEnded(before.tokens, text) ? lastWhole + 1 : lastWhole;
}

/** Whether a block ends by itself, or by the blank line before the last line. */
function hasEnded(tokens: readonly Token[], text: string): boolean {
  switch (tokens[0]?.type) {
    case 'heading_open':
    case 'hr':
    case 'fence':
      return true;
    case 'bullet_list_open':
    case 'ordered_list_open':
      return false;
    default:
      return /\n[ \t]*\n[^\n]*$/.test(text);
  }
}

function offsetOfLine(text: string, line: number): number {
  let offset = 0;
  for (let count = 0; count < line; count += 1) offset = text.indexOf('\n', offset) + 1;
  return offset;
}
