import * as v from 'valibot';
import { decodeText, shorten, toLines } from './fileText.ts';
import { makeTool, ToolError, type Tool } from './tool.ts';
import type { Workspace } from './workspace.ts';

/** Bounds of one result, so that a single call cannot fill a model's context. */
const maxLines = 400;
const maxCharacters = 40_000;
const maxLineLength = 2_000;
const maxFileBytes = 10 * 1024 * 1024;

/** Models often write numbers as strings. */
const lineNumber = v.pipe(
  v.union([v.number(), v.pipe(v.string(), v.digits(), v.transform(Number))]),
  v.integer(),
  v.minValue(1),
);

export function makeReadFileTool(workspace: Workspace): Tool {
  return makeTool({
    name: 'read_file',
    description:
      `Reads a text file of the workspace, at most ${maxLines} lines at once. ` +
      'The first line of the result says which lines follow; each of them is its number, a tab, and its text.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Path relative to the workspace.' },
        startLine: { type: 'integer', minimum: 1, description: 'First line, counted from 1.' },
        endLine: { type: 'integer', minimum: 1, description: 'Last line, included.' },
      },
      required: ['path'],
      additionalProperties: false,
    },
    schema: v.object({
      path: v.string(),
      startLine: v.optional(v.nullable(lineNumber), null),
      endLine: v.optional(v.nullable(lineNumber), null),
    }),
    async run({ path, startLine, endLine }) {
      const { kind, size } = await workspace.stat(path);
      if (kind === 'folder') throw new ToolError('unavailable', `${path} is a folder; use list_folder.`);
      if (size > maxFileBytes)
        throw new ToolError(
          'unavailable',
          `${path} has ${size} bytes, too much to read; search_text finds lines in it if it is text.`,
        );
      const text = decodeText(await workspace.readFile(path));
      if (text === null) throw new ToolError('unavailable', `${path} is not a text file.`);
      return describeLines(path, toLines(text), startLine ?? 1, endLine);
    },
  });
}

function describeLines(path: string, lines: readonly string[], start: number, end: number | null): string {
  if (lines.length === 0) return `${path} is empty.`;
  if (start > lines.length)
    throw new ToolError('arguments', `${path} has only ${lines.length} lines; startLine is ${start}.`);
  if (end !== null && end < start)
    throw new ToolError('arguments', `endLine ${end} comes before startLine ${start}.`);
  const shown: string[] = [];
  let characters = 0;
  const last = Math.min(end ?? lines.length, lines.length, start + maxLines - 1);
  for (let line = start; line <= last; line += 1) {
    const numbered = `${line}\t${shorten(lines[line - 1] ?? '', maxLineLength)}`;
    characters += numbered.length + 1;
    if (characters > maxCharacters) break;
    shown.push(numbered);
  }
  const lastShown = start + shown.length - 1;
  const header = `${path}, lines ${start}-${lastShown} of ${lines.length}`;
  const isCut = lastShown < Math.min(end ?? lines.length, lines.length);
  const note = isCut ? [`(Cut here; ask again with startLine ${lastShown + 1}.)`] : [];
  return [header, ...shown, ...note].join('\n');
}
