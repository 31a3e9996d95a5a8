/** Files as text: what is text at all, and its lines. */

/** The text of a file, or null when it is binary. Understands UTF-8, and UTF-16 with a byte order mark. */
export function decodeText(bytes: Uint8Array): string | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  // No text format has a NUL, and nearly every binary one has some near its start.
  if (bytes.subarray(0, 8_000).includes(0)) return null;
  return new TextDecoder('utf-8').decode(bytes);
}

/** Lines without their ends. A final line end starts no further line. */
export function toLines(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Cut to `length` characters, with `…` for what is missing, never inside a surrogate pair. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
