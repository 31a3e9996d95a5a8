/** Reads what the tools answered: the guide is told no more than a language model would be. */

export interface Hit {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
}

/** Results of search_text. */
export function parseHits(text: string): Hit[] {
  return text.split('\n').flatMap((row) => {
    const [, path, line, found] = /^(.+?):(\d+): (.*)$/.exec(row) ?? [];
    if (path === undefined || line === undefined || found === undefined || row.startsWith('(')) return [];
    return [{ path, line: Number(line), text: found }];
  });
}

/** Results of find_files and list_folder; notes stand in parentheses. */
export function parsePaths(text: string): string[] {
  return text.split('\n').filter((row) => row !== '' && !(row.startsWith('(') && row.endsWith(')')));
}

export interface NumberedLine {
  readonly number: number;
  readonly text: string;
}

/** Results of read_file. */
export function parseLines(text: string): NumberedLine[] {
  return text.split('\n').flatMap((row) => {
    const [, number, line] = /^(\d+)\t(.*)$/.exec(row) ?? [];
    return number === undefined || line === undefined ? [] : [{ number: Number(number), text: line }];
  });
}
