/** What the offline guide does next: which tools it calls for a question, and when it has enough to answer. */
import type { ToolCall } from '../session/model.ts';
import type { ModelMessage } from '../session/projection.ts';
import { keywords, specificKeywords } from '../tools/words.ts';
import type { ModelRequest } from './chatModel.ts';
import {
  describeFile,
  describeFiles,
  describeHits,
  describeOverview,
  nothingFound,
  nothingToSearch,
  noWorkspace,
  searchFailed,
  smallTalk,
} from './guideAnswer.ts';
import { parseHits, parsePaths, type Hit } from './guideResults.ts';

export type GuideStep =
  | { readonly kind: 'calls'; readonly calls: readonly ToolCall[] }
  | { readonly kind: 'answer'; readonly markdown: string };

/** A tool call of this turn, with its result. */
interface Finding {
  readonly name: string;
  readonly text: string;
  readonly isError: boolean;
}

type Intent =
  | { readonly kind: 'talk' }
  | { readonly kind: 'overview' }
  | { readonly kind: 'file'; readonly name: string }
  | { readonly kind: 'search'; readonly words: readonly string[] };

/** Lines around the best hit that are read, so that its comment above and its body below are seen. */
const linesBefore = 15;
const linesAfter = 60;

export function nextStep(request: ModelRequest): GuideStep {
  const prompts = request.messages.flatMap((message) => (message.role === 'user' ? [message.text] : []));
  const question = prompts.at(-1) ?? '';
  const intent = readIntent(question, prompts.slice(0, -1));
  if (intent.kind === 'talk') return answer(smallTalk(question));
  const isAble = request.tools.some((tool) => tool.name === 'search_text');
  if (!isAble) return answer(noWorkspace);
  const findings = findingsOf(request.messages);
  const call = (name: string, input: Readonly<Record<string, unknown>>): GuideStep => ({
    kind: 'calls',
    calls: [{ id: `guide-${request.messages.length}`, name, arguments: JSON.stringify(input) }],
  });
  switch (intent.kind) {
    case 'overview':
      return planOverview(findings, call);
    case 'file':
      return planFile(intent.name, findings, call);
    case 'search':
      return intent.words.length === 0 ? answer(nothingToSearch) : planSearch(intent.words, findings, call);
  }
}

type Call = (name: string, input: Readonly<Record<string, unknown>>) => GuideStep;

/** Search; read the best hit; answer. Without a hit: file names; answer. */
function planSearch(words: readonly string[], findings: readonly Finding[], call: Call): GuideStep {
  const [first, second] = findings;
  if (first === undefined)
    return call('search_text', { query: words.join(' '), mode: 'words', maxResults: 30 });
  if (first.isError) return answer(searchFailed(first.text));
  const hits = parseHits(first.text);
  const best = hits[0];
  if (best === undefined) {
    if (second === undefined) return call('find_files', { pattern: longest(words) });
    const paths = second.isError ? [] : parsePaths(second.text);
    return answer(paths.length === 0 ? nothingFound(words) : describeFiles(words, paths));
  }
  if (second === undefined) return call('read_file', around(best));
  return answer(describeHits(words, hits, second.isError ? null : second.text));
}

/** The file by name; read it; answer. Its name may stand for nothing: then its words are searched for. */
function planFile(name: string, findings: readonly Finding[], call: Call): GuideStep {
  const [first, second] = findings;
  if (first === undefined) return call('find_files', { pattern: name });
  if (first.isError) return answer(searchFailed(first.text));
  const paths = bestNamed(parsePaths(first.text), name);
  const best = paths[0];
  if (best === undefined) return answer(nothingFound([name]));
  if (second === undefined) return call('read_file', { path: best, startLine: 1, endLine: linesAfter });
  return answer(describeFile(best, paths.slice(1), second.text, second.isError));
}

/** What is here: the top folder, then the README if there is one. */
function planOverview(findings: readonly Finding[], call: Call): GuideStep {
  const [first, second] = findings;
  if (first === undefined) return call('list_folder', { path: '' });
  if (first.isError) return answer(searchFailed(first.text));
  const entries = parsePaths(first.text);
  const readme = entries.find((entry) => /^readme(\.(md|txt|markdown))?$/i.test(entry));
  if (readme === undefined) return answer(describeOverview(entries, null, null));
  if (second === undefined) return call('read_file', { path: readme, startLine: 1, endLine: 40 });
  return answer(describeOverview(entries, readme, second.isError ? null : second.text));
}

function around(hit: Hit): Readonly<Record<string, unknown>> {
  return {
    path: hit.path,
    startLine: Math.max(1, hit.line - linesBefore),
    endLine: hit.line + linesAfter,
  };
}

function answer(markdown: string): GuideStep {
  return { kind: 'answer', markdown };
}

/** The tool results behind the last prompt, in order. */
function findingsOf(messages: readonly ModelMessage[]): Finding[] {
  const start = messages.findLastIndex((message) => message.role === 'user');
  return messages
    .slice(start + 1)
    .flatMap((message) =>
      message.role === 'tool'
        ? [{ name: message.toolName, text: message.text, isError: message.isError }]
        : [],
    );
}

const greeting =
  /^(?:hi|hello|hey|hallo|moin|good (?:morning|evening|afternoon)|how are you|what'?s up|thanks?(?: you)?|thx|ty|cool|great|nice|ok(?:ay)?|bye|goodbye|test(?:ing)?|ping|你好|您好|谢谢|こんにちは|ありがとう)(?:\s+(?:there|all|everyone|guide|holdfast|so much|a lot|again))*$/;
const aboutItself =
  /\b(?:who|what) (?:are|r) you\b|\bwhat can you do\b|\bhow (?:do|can) i (?:connect|add|use|set ?up|configure|choose) (?:a |an |another |my |the )?(?:language )?(?:model|llm|api key|provider|ollama|openai)\b|^help$|你是谁|你能做什么/;
const overview =
  /^(?:(?:please )?(?:give me |show me )?(?:an? )?overview\b.*|what(?:'s| is| does)? (?:is )?(?:this|the|my) (?:project|repo(?:sitory)?|workspace|code ?base|app(?:lication)?|folder|program)(?: (?:about|do|for|all about))?|(?:explain|describe|summari[sz]e) (?:this|the|my) (?:project|repo(?:sitory)?|workspace|code ?base|app(?:lication)?|code)|(?:list|show)(?: me)?(?: all)?(?: the| my)? files|what(?:'s| is) (?:in )?here|what files are (?:there|here)(?: in .*)?)$/;
/** A name with an extension that holds a letter: `package.json`, `src/a.ts`, not `3.5` or `e.g`. */
const fileName = /(?:^|[\s`"'(])([\w@.-]*(?:[\w@-]+\/)*[\w@.-]+\.(?=\w*[a-z])\w{2,8})(?=$|[\s`"'),:;?!.])/i;
const wantsFile = /\b(?:open|show|read|display|print|cat|contents? of|what(?:'s| is) in)\b/i;

function readIntent(question: string, earlier: readonly string[]): Intent {
  const plain = question
    .toLowerCase()
    .replace(/[!?.,。！？~…]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  if (plain === '' || greeting.test(plain) || aboutItself.test(plain)) return { kind: 'talk' };
  if (overview.test(plain)) return { kind: 'overview' };
  const words = keywords(question);
  const name = fileName.exec(question)?.[1];
  const isOnlyName = name !== undefined && keywords(question.replace(name, ' ')).length === 0;
  if (name !== undefined && (isOnlyName || wantsFile.test(question))) return { kind: 'file', name };
  if (specificKeywords(question).length > 0) return { kind: 'search', words };
  // A follow-up such as "And where is it used?" is about what was asked before.
  const before = earlier.map((text) => specificKeywords(text)).findLast((found) => found.length > 0);
  return { kind: 'search', words: before ?? words };
}

function longest(words: readonly string[]): string {
  return words.reduce((best, word) => (word.length > best.length ? word : best), '');
}

/** Files named exactly so come first, and among them the one nearest the top. */
function bestNamed(paths: readonly string[], name: string): string[] {
  const wanted = name.toLowerCase();
  const rank = (path: string): number => {
    const lower = path.toLowerCase();
    const isExact = lower === wanted || lower.endsWith(`/${wanted}`);
    return (isExact ? 0 : 1_000) + path.split('/').length;
  };
  return [...paths].sort((one, other) => rank(one) - rank(other));
}
