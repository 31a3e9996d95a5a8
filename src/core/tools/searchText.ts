import * as v from 'valibot';
import { breathe } from './breathe.ts';
import { decodeText, shorten, toLines } from './fileText.ts';
import { LineRanking } from './lineRanking.ts';
import { makePatternMatcher } from './patternMatcher.ts';
import { makeTool, ToolError, type Tool } from './tool.ts';
import { searchWords } from './words.ts';
import type { Workspace } from './workspace.ts';

/** Bounds of one search. */
const maxFiles = 50_000;
const maxFileBytes = 1024 * 1024;
const maxLinesOfFile = 20;
const maxResults = 500;
const maxLineLength = 300;
/** Longer lines are generated; only their start is searched. */
const maxSearchedLineLength = 2_000;
/** Milliseconds. */
const timeLimit = 10_000;
/** Files read at once. */
const batchSize = 16;

const schema = v.object({
  query: v.pipe(
    v.string(),
    v.check((text) => text.trim() !== '', 'must not be empty'),
  ),
  mode: v.optional(v.picklist(['text', 'regex', 'words']), 'text'),
  caseSensitive: v.optional(v.boolean(), false),
  glob: v.optional(v.nullable(v.string()), null),
  maxResults: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(maxResults)), 100),
});
type Search = v.InferOutput<typeof schema>;

interface Findings {
  /** `path:line: text` */
  readonly lines: readonly string[];
  /** What the search left out, as sentences. */
  readonly notes: readonly string[];
}

/** `now`: Unix time in milliseconds, for the time limit. */
export function makeSearchTextTool(workspace: Workspace, now: () => number): Tool {
  return makeTool({
    name: 'search_text',
    description:
      'Searches the text files of the workspace; each result is path:line: text. Modes: text (the query as it is), ' +
      'regex (a JavaScript regular expression, line by line), words (lines about the words of the query, whatever ' +
      'their form, best first: definitions before mentions). Binary, very large and generated files are left out.',
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string' },
        mode: { type: 'string', enum: ['text', 'regex', 'words'], default: 'text' },
        caseSensitive: { type: 'boolean', default: false },
        glob: { type: 'string', description: 'Only files whose path matches, such as src/**/*.ts.' },
        maxResults: { type: 'integer', minimum: 1, maximum: maxResults, default: 100 },
      },
      required: ['query'],
      additionalProperties: false,
    },
    schema,
    async run(search, { signal }) {
      const findings =
        search.mode === 'words'
          ? await searchForWords(workspace, search, now, signal)
          : await searchForPattern(workspace, search, now, signal);
      const notes = findings.notes.map((note) => `(${note})`);
      if (findings.lines.length === 0) return [`(Nothing found for ${search.query}.)`, ...notes].join('\n');
      return [...findings.lines, ...notes].join('\n');
    },
  });
}

async function searchForWords(
  workspace: Workspace,
  search: Search,
  now: () => number,
  signal: AbortSignal,
): Promise<Findings> {
  const words = searchWords(search.query);
  if (words.length === 0)
    throw new ToolError('arguments', `${search.query} has no words to search for; use the mode text.`);
  const ranking = new LineRanking(words);
  const notes = await eachFile(workspace, search.glob, now, signal, (path, text) => {
    ranking.addFile(path, text, searchedLines);
    return true;
  });
  const best = ranking.best(search.maxResults, maxLinesOfFile);
  return { lines: best.map(({ path, line, text }) => result(path, line, text)), notes };
}

async function searchForPattern(
  workspace: Workspace,
  search: Search,
  now: () => number,
  signal: AbortSignal,
): Promise<Findings> {
  const matcher = makePatternMatcher(search.query, {
    isRegex: search.mode === 'regex',
    caseSensitive: search.caseSensitive,
  });
  const found: string[] = [];
  const notes = await eachFile(workspace, search.glob, now, signal, (path, text) => {
    if (!matcher.mayMatch(text)) return true;
    const lines = searchedLines(text);
    const limit = search.maxResults - found.length;
    for (const index of matcher.matchingLines(lines, limit))
      found.push(result(path, index + 1, lines[index] ?? ''));
    return found.length < search.maxResults;
  });
  const isFull = found.length >= search.maxResults;
  const full = isFull ? [`Stopped after ${search.maxResults} results; there may be more.`] : [];
  return { lines: found, notes: [...full, ...notes] };
}

/** Calls `visit` with every text file until it says false; resolves to what was left out. */
async function eachFile(
  workspace: Workspace,
  glob: string | null,
  now: () => number,
  signal: AbortSignal,
  visit: (path: string, text: string) => boolean,
): Promise<string[]> {
  const end = now() + timeLimit;
  const { paths, isComplete } = await workspace.findFiles({ glob, limit: maxFiles, signal });
  const notes = isComplete ? [] : [`Only the first ${maxFiles} files were searched.`];
  let breathing = performance.now();
  for (let start = 0; start < paths.length; start += batchSize) {
    signal.throwIfAborted();
    if (now() > end) {
      notes.push(`Stopped after ${timeLimit / 1000} seconds with ${paths.length - start} files left.`);
      return notes;
    }
    const batch = paths.slice(start, start + batchSize);
    const texts = await Promise.all(batch.map((path) => readText(workspace, path)));
    for (const [index, path] of batch.entries()) {
      const text = texts[index];
      if (text !== undefined && text !== null && !visit(path, text)) return notes;
      breathing = await breathe(breathing);
    }
  }
  return notes;
}

/** Null for a file that is not searched: binary, too large, or gone since it was listed. */
async function readText(workspace: Workspace, path: string): Promise<string | null> {
  let bytes: Uint8Array;
  try {
    const { kind, size } = await workspace.stat(path);
    if (kind !== 'file' || size > maxFileBytes) return null;
    bytes = await workspace.readFile(path);
  } catch {
    return null; // one unreadable file does not end the search of the others
  }
  return decodeText(bytes);
}

function searchedLines(text: string): string[] {
  return toLines(text).map((line) => line.slice(0, maxSearchedLineLength));
}

function result(path: string, line: number, text: string): string {
  return `${path}:${line}: ${shorten(text.trim(), maxLineLength)}`;
}
