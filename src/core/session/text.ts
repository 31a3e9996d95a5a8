/** Small text helpers that host and page share. */
import type { Message } from './model.ts';

/** Stands where a text would that cannot be read. */
export const unreadableContents =
  'This message cannot be read: the file that holds it is missing or damaged. The rest of the chat is as it was; a backup that is restored brings the message back.';

/** The text of a message; for one that cannot be read, the sentence that says so. */
export function readableText({ text, contents }: Pick<Message, 'text' | 'contents'>): string {
  return contents === 'here' ? text : unreadableContents;
}

/** Length in UTF-8 bytes, counted without encoding. A lone surrogate counts as the three bytes of its replacement. */
export function byteLength(text: string): number {
  let bytes = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else if (isHighSurrogate(code) && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 4;
      index++;
    } else bytes += 3;
  }
  return bytes;
}

export function countLineBreaks(text: string): number {
  let breaks = 0;
  for (let index = text.indexOf('\n'); index >= 0; index = text.indexOf('\n', index + 1)) breaks += 1;
  return breaks;
}

/** The first line with words in it, at most `limit` UTF-16 units, cut between words where possible and never inside a character. */
export function firstWords(text: string, limit: number): string {
  const start = text.search(/\S/);
  if (start === -1) return '';
  const end = text.indexOf('\n', start);
  const line = text.slice(start, end === -1 ? text.length : end);
  const words = line.trimEnd().replace(/\s+/g, ' ');
  if (words.length <= limit) return words;
  const cut = words.slice(0, limit - 1);
  const whole = isHighSurrogate(cut.charCodeAt(cut.length - 1)) ? cut.slice(0, -1) : cut;
  const space = words.lastIndexOf(' ', limit - 1);
  return `${space > limit / 2 ? whole.slice(0, space) : whole}…`;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
