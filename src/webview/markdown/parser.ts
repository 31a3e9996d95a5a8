/** markdown-it as it is used here: tokens only, never an HTML string. */
import MarkdownIt, { type Env, type Token } from 'markdown-it';

type Parser = InstanceType<typeof MarkdownIt>;

let parser: Parser | null = null;

/** Made with the first text: a page without one starts sooner. */
function makeParser(): Parser {
  const made = new MarkdownIt({ html: false, linkify: true, breaks: false });
  // Fuzzy links would turn `main.rs` (a file) and `config.py` into addresses.
  made.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  // Links are judged when they are rendered (links.ts), by a list of what is allowed; addresses stay as written.
  made.validateLink = () => true;
  made.normalizeLink = (url: string) => url;
  made.normalizeLinkText = (url: string) => url;
  return made;
}

/** The top-level blocks of a text, each with its lines and its tokens. */
export interface ParsedBlock {
  readonly firstLine: number;
  readonly tokens: readonly Token[];
}

/** `environment` carries link definitions from earlier parts of the same text to later ones. */
export function parseBlocks(text: string, environment: Env): ParsedBlock[] {
  parser ??= makeParser();
  const blocks: { firstLine: number; tokens: Token[] }[] = [];
  let depth = 0;
  for (const token of parser.parse(text, environment)) {
    if (depth === 0) blocks.push({ firstLine: token.map?.[0] ?? 0, tokens: [] });
    blocks.at(-1)?.tokens.push(token);
    depth += token.nesting;
  }
  return blocks;
}
