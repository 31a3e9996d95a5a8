/** Where a command writes to, and how text for people is laid out. */

export interface Output {
  /** Standard output: what was asked for. */
  print(text: string): void;
  /** Standard error: everything else. */
  complain(text: string): void;
}

export function printJson(output: Output, value: unknown): void {
  output.print(`${JSON.stringify(value)}\n`);
}

/** Stored text must not be able to steer the terminal: control characters other than newline and tab become visible. */
export function plainText(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/\r\n/g, '\n').replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : '\ufffd';
  });
}

/** The same on one line. */
export function plainLine(text: string): string {
  return plainText(text).replace(/[\n\t]+/g, ' ');
}

/** Columns as wide as their widest cell; the last one is not filled up. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  }
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  '),
  );
  return lines.map((line) => `${line}\n`).join('');
}

/** To the minute, local time. `time`: Unix time in milliseconds. */
export function minute(time: number): string {
  const date = new Date(time);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
