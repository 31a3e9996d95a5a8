/** The offline guide's words. It says what it found, what it is, and how to get a language model. */
import { excerptAround, fence, fileLink, inlineCode } from './guideExcerpt.ts';
import { parseLines, type Hit, type NumberedLine } from './guideResults.ts';

const maxOthers = 6;

const whatIAm =
  'I am the **offline guide**: not a language model, but a search over this workspace. ' +
  'To connect a language model (OpenAI, Ollama, LM Studio or any other OpenAI-compatible endpoint), add it to the ' +
  'setting `holdfast.providers`, store its key with the command **Holdfast: Set API Key** if it needs one, and choose ' +
  'it in the model picker.';

const footer =
  '---\n\n_Answered by the offline guide: a search over this workspace, not a language model._ To connect one, add it ' +
  'to the setting `holdfast.providers` and store its key with the command **Holdfast: Set API Key**.';

const examples =
  'Ask me where something is or what a name stands for, for example "Where is the price calculated?", ' +
  '"What does `parseConfig` do?" or "Show package.json".';

export function smallTalk(question: string): string {
  const isThanks = /\b(?:thanks?|thx|ty)\b|谢谢|ありがとう/i.test(question);
  return [isThanks ? 'You are welcome.' : 'Hello.', whatIAm, examples].join('\n\n');
}

export const noWorkspace = [
  'No folder is open, so there is nothing I can search.',
  whatIAm,
  'Open a folder, then ask again.',
].join('\n\n');

export const nothingToSearch = [
  'I found no word in your question that I could search for.',
  whatIAm,
  examples,
].join('\n\n');

/** `reason`: what the tool said. */
export function searchFailed(reason: string): string {
  return [`I could not search this workspace: ${reason}`, whatIAm].join('\n\n');
}

export function nothingFound(words: readonly string[]): string {
  return [
    `I searched the open workspace for ${listWords(words)} and found nothing, neither in the files nor in their names.`,
    'Try a word that the code itself would use, or part of a file name.',
    whatIAm,
  ].join('\n\n');
}

/** `readResult`: what read_file gave for the best hit; null when it failed. */
export function describeHits(
  words: readonly string[],
  hits: readonly Hit[],
  readResult: string | null,
): string {
  const [best, ...others] = hits;
  if (best === undefined) return nothingFound(words);
  const lines = readResult === null ? [] : excerptAround(parseLines(readResult), best.line, best.path);
  const shown = lines.length > 0 ? lines : [{ number: best.line, text: best.text }];
  const parts = [
    `The best match for ${listWords(words)} is ${fileLink(best.path, best.line)}:`,
    fence(shown, best.path),
    ...describeOthers(others, best, shown),
    footer,
  ];
  return parts.join('\n\n');
}

/** Other hits, at most two of one file, without the lines that are shown already. */
function describeOthers(others: readonly Hit[], best: Hit, shown: readonly NumberedLine[]): string[] {
  const numbers = new Set(shown.map((line) => line.number));
  const perFile = new Map<string, number>();
  const items = others
    .filter((hit) => {
      if (hit.path === best.path && numbers.has(hit.line)) return false;
      const count = (perFile.get(hit.path) ?? 0) + 1;
      perFile.set(hit.path, count);
      return count <= 2;
    })
    .slice(0, maxOthers)
    .map((hit) => `- ${fileLink(hit.path, hit.line)} ${inlineCode(clip(hit.text))}`);
  return items.length === 0 ? [] : ['Also related:', items.join('\n')];
}

export function describeFiles(words: readonly string[], paths: readonly string[]): string {
  const items = paths.slice(0, 12).map((path) => `- ${fileLink(path, null)}`);
  return [
    `No line of the workspace matches ${listWords(words)}, but these files are named like it:`,
    items.join('\n'),
    footer,
  ].join('\n\n');
}

export function describeFile(
  path: string,
  others: readonly string[],
  readResult: string,
  isError: boolean,
): string {
  const all = parseLines(readResult);
  const shown = all.slice(0, 40);
  const body = isError || shown.length === 0 ? readResult : fence(shown, path);
  const named = others.slice(0, maxOthers).map((other) => `- ${fileLink(other, null)}`);
  return [
    `${fileLink(path, 1)}${shown.length < all.length ? ', its beginning' : ''}:`,
    body,
    ...(named.length === 0 ? [] : ['Other files of that name:', named.join('\n')]),
    footer,
  ].join('\n\n');
}

export function describeOverview(
  entries: readonly string[],
  readme: string | null,
  readResult: string | null,
): string {
  const lines = readme === null || readResult === null ? [] : parseLines(readResult);
  const items = entries
    .slice(0, 30)
    .map((entry) => `- ${entry.endsWith('/') ? inlineCode(entry) : fileLink(entry, null)}`);
  return [
    ...(readme === null || lines.length === 0
      ? []
      : [`From ${fileLink(readme, 1)}:`, lines.map((line) => `> ${line.text}`.trimEnd()).join('\n')]),
    'At the top of the workspace:',
    items.join('\n'),
    footer,
  ].join('\n\n');
}

function listWords(words: readonly string[]): string {
  return words.map((word) => `“${word}”`).join(', ');
}

function clip(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 99).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
