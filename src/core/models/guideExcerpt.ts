/** Which lines of a file are shown for a hit, and how they look in Markdown. */
import { classifyLine, indentOf } from '../tools/definitions.ts';
import type { NumberedLine } from './guideResults.ts';

const maxLines = 24;
const contextLines = 3;

/**
 * A definition is shown with its comment and its whole body as far as that is short; any other line with a few lines
 * around it.
 */
export function excerptAround(lines: readonly NumberedLine[], target: number, path: string): NumberedLine[] {
  const index = lines.findIndex((line) => line.number === target);
  if (index === -1) return [];
  const isMarkdown = /\.(?:md|mdx|markdown)$/i.test(path);
  const { kind } = classifyLine(lines[index]?.text ?? '', isMarkdown);
  const [start, end] =
    kind === 'definition'
      ? [startOfComment(lines, index), endOfBody(lines, index)]
      : [Math.max(0, index - contextLines), index + contextLines];
  const shown = lines.slice(start, Math.min(end + 1, start + maxLines));
  while (shown.length > 0 && shown[0]?.text.trim() === '' && shown[0].number !== target) shown.shift();
  while (shown.length > 0 && shown.at(-1)?.text.trim() === '' && shown.at(-1)?.number !== target) shown.pop();
  return shown;
}

function startOfComment(lines: readonly NumberedLine[], index: number): number {
  let start = index;
  while (start > 0 && index - start < 10) {
    if (classifyLine(lines[start - 1]?.text ?? '', false).kind !== 'comment') break;
    start -= 1;
  }
  return start;
}

/** The body ends with the line that closes it, or before the first line that is indented no further. */
function endOfBody(lines: readonly NumberedLine[], index: number): number {
  const indent = indentOf(lines[index]?.text ?? '');
  for (let end = index + 1; end < lines.length; end += 1) {
    const text = lines[end]?.text ?? '';
    if (text.trim() === '' || indentOf(text) > indent) continue;
    // `): Rental {` closes the parameters and opens the body.
    if (/^\s*[)\]>][^{]*\{\s*$/.test(text)) continue;
    return /^\s*(?:[}\])]|end\b)/.test(text) ? end : end - 1;
  }
  return lines.length - 1;
}

const languages: Readonly<Record<string, string>> = {
  c: 'c',
  cc: 'cpp',
  cjs: 'javascript',
  cpp: 'cpp',
  cs: 'csharp',
  css: 'css',
  go: 'go',
  h: 'c',
  hpp: 'cpp',
  html: 'html',
  java: 'java',
  js: 'javascript',
  json: 'json',
  jsonc: 'json',
  jsx: 'jsx',
  kt: 'kotlin',
  lua: 'lua',
  md: 'markdown',
  mjs: 'javascript',
  mts: 'typescript',
  php: 'php',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  scss: 'scss',
  sh: 'bash',
  sql: 'sql',
  swift: 'swift',
  toml: 'toml',
  ts: 'typescript',
  tsx: 'tsx',
  vue: 'vue',
  xml: 'xml',
  yaml: 'yaml',
  yml: 'yaml',
};

/** A fence long enough to hold the lines, whatever fences they hold themselves. */
export function fence(lines: readonly NumberedLine[], path: string): string {
  const text = lines.map((line) => line.text).join('\n');
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
  const ticks = '`'.repeat(Math.max(3, longest + 1));
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
  return `${ticks}${languages[extension] ?? ''}\n${text}\n${ticks}`;
}

/** A link the panel opens at the line. Its words are the path as it is, its target escaped where Markdown needs it. */
export function fileLink(path: string, line: number | null): string {
  const place = line === null ? path : `${path}:${line}`;
  const words = place.replace(/[\\`*_[\]<>]/g, '\\$&');
  return `[${words}](${place.replace(/[% ()<>\\]/g, percentEncode)})`;
}

/** Of an ASCII character; `encodeURIComponent` leaves parentheses alone. */
function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Text as inline code, whatever back ticks it holds. */
export function inlineCode(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
  if (longest === 0) return `\`${text}\``;
  const ticks = '`'.repeat(longest + 1);
  return `${ticks} ${text} ${ticks}`;
}
