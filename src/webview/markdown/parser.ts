/** markdown-it as it is used here: tokens only, never an HTML string. */
import MarkdownIt, { type Env, type Token } from 'markdown-it';

const parser = new MarkdownIt({ html: false, linkify: true, breaks: false });
// Fuzzy links would turn `main.rs` (a file) and `config.py` into addresses.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
// Links are judged when they are rendered (links.ts), by a list of what is allowed; addresses stay as written.
parser.validateLink = () => true;
parser.normalizeLink = (url: string) => url;
parser.normalizeLinkText = (url: string) => url;

/** The top-level blocks of a text, each with its lines and its tokens. */
export interface ParsedBlock {
  readonly firstLine: number;
  readonly tokens: readonly Token[];
}

/** `environment` carries link definitions from earlier parts of the same text to later ones. */
export function parseBlocks(text: string, environment: Env): ParsedBlock[] {
  const blocks: { firstLine: number; tokens: Token[] }[] = [];
  let depth = 0;
  for (const token of parser.parse(text, environment)) {
    if (depth === 0) blocks.push({ firstLine: token.map?.[0] ?? 0, tokens: [] });
    blocks.at(-1)?.tokens.push(token);
    depth += token.nesting;
  }
  return blocks;
}
