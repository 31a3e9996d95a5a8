/**
 * Ranks the lines of a workspace for a handful of words: where a thing is defined comes before where it is mentioned,
 * rare words weigh more than common ones, and a line is judged with its comment, its file's path and what follows.
 */
import { classifyLine, indentOf } from './definitions.ts';
import { lineTokens, splitIdentifier, stem, type SearchWord } from './words.ts';

export interface RankedLine {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
  readonly score: number;
}

/** A set of the searched stems, one bit each. */
type Stems = number;

interface Candidate {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly isDefinition: boolean;
  readonly inLine: Stems;
  readonly inName: Stems;
  /** Share of the defined name's parts that were searched for: `RentalError` fits better than `RentalErrorCode`. */
  readonly nameFit: number;
  readonly inComment: Stems;
  readonly inBody: Stems;
  readonly inPath: Stems;
  readonly inFile: Stems;
  /** How many identifiers the user wrote out stand in the line as they are. */
  readonly exact: number;
  readonly factor: number;
}

const maxStems = 31;
const maxCandidatesPerFile = 40;
/** How far below a definition its body is looked at. */
const bodyLines = 40;

export class LineRanking {
  private readonly stems: readonly string[];
  private readonly cjkStems: readonly string[];
  /** Identifiers of more than one part, lower case. */
  private readonly identifiers: readonly string[];
  private readonly tokenStems = new Map<string, Stems>();
  private readonly filesWith: number[];
  private readonly candidates: Candidate[] = [];
  private files = 0;

  constructor(words: readonly SearchWord[]) {
    const stems = [...new Set(words.flatMap((word) => word.stems))].slice(0, maxStems);
    const cjk = new Set(words.filter((word) => word.isCjk).flatMap((word) => word.stems));
    this.stems = stems;
    this.cjkStems = stems.filter((candidate) => cjk.has(candidate));
    this.identifiers = words.filter((word) => word.stems.length > 1).map((word) => word.text.toLowerCase());
    this.filesWith = stems.map(() => 0);
  }

  addFile(path: string, lines: readonly string[]): void {
    this.files += 1;
    const isMarkdown = /\.(?:md|mdx|markdown)$/i.test(path);
    const inLines = lines.map((line) => this.stemsOf(line));
    const inPath = this.stemsOf(path);
    const inFile = inLines.reduce((union, found) => union | found, inPath);
    for (const index of this.stems.keys()) if (inFile & (1 << index)) this.filesWith[index]! += 1;
    if (inFile === 0) return;
    const kinds = lines.map((line) => classifyLine(line, isMarkdown));
    const found: Candidate[] = [];
    let inComment = 0;
    for (const [index, text] of lines.entries()) {
      const { kind, name } = kinds[index] ?? { kind: 'other', name: '' };
      const inLine = inLines[index] ?? 0;
      const isDefinition = kind === 'definition' || kind === 'heading';
      const inBody = isDefinition ? this.bodyStems(lines, inLines, kinds, index) : 0;
      if (inLine !== 0 || (isDefinition && inComment !== 0)) {
        found.push({
          path,
          line: index + 1,
          text,
          isDefinition,
          inLine,
          inName: isDefinition ? this.stemsOf(name) : 0,
          nameFit: isDefinition ? this.nameFit(name) : 0,
          inComment: isDefinition ? inComment : 0,
          inBody,
          inPath,
          inFile,
          exact: this.identifiers.filter((identifier) => text.toLowerCase().includes(identifier)).length,
          factor: fileFactor(path) * lineFactor(kind, indentOf(text)),
        });
      }
      inComment = kind === 'comment' ? inComment | inLine : 0;
    }
    found.sort((one, other) => richness(other) - richness(one) || one.line - other.line);
    this.candidates.push(...found.slice(0, maxCandidatesPerFile));
  }

  /** The best lines, at most `perFile` of one file; a path decides between equals, so that results repeat. */
  best(limit: number, perFile: number): RankedLine[] {
    const weights = this.filesWith.map((count) => Math.log(1 + this.files / Math.max(1, count)));
    const ranked = this.candidates.map((candidate) => ({
      path: candidate.path,
      line: candidate.line,
      text: candidate.text,
      score: this.score(candidate, weights),
    }));
    ranked.sort(
      (one, other) =>
        other.score - one.score ||
        (one.path < other.path ? -1 : one.path > other.path ? 1 : one.line - other.line),
    );
    const taken = new Map<string, number>();
    return ranked
      .filter(({ path }) => {
        const count = (taken.get(path) ?? 0) + 1;
        taken.set(path, count);
        return count <= perFile;
      })
      .slice(0, limit);
  }

  private score(candidate: Candidate, weights: readonly number[]): number {
    const weigh = (stems: Stems): number =>
      weights.reduce((sum, weight, index) => (stems & (1 << index) ? sum + weight : sum), 0);
    const { inLine, inName, inComment, inBody, inPath, inFile } = candidate;
    const near = inLine | inComment | inPath;
    const coverage = countBits(near) / this.stems.length;
    const base =
      weigh(inLine) +
      (1 + candidate.nameFit) * weigh(inName) +
      0.6 * weigh(inComment & ~inLine) +
      0.3 * weigh(inBody & ~inLine & ~inComment) +
      0.3 * weigh(inPath & ~inLine) +
      0.1 * weigh(inFile & ~near);
    return (base * (0.4 + 0.6 * coverage) + 3 * candidate.exact) * candidate.factor;
  }

  private stemsOf(text: string): Stems {
    let found = 0;
    for (const token of lineTokens(text)) {
      let known = this.tokenStems.get(token);
      if (known === undefined) {
        known = this.stemsOfToken(token);
        this.tokenStems.set(token, known);
      }
      found |= known;
    }
    return found;
  }

  private stemsOfToken(token: string): Stems {
    const parts = splitIdentifier(token).map(stem);
    let found = 0;
    for (const [index, wanted] of this.stems.entries()) {
      const isThere = this.cjkStems.includes(wanted)
        ? token.includes(wanted)
        : parts.some((part) => isSameWord(part, wanted));
      if (isThere) found |= 1 << index;
    }
    return found;
  }

  private nameFit(name: string): number {
    const parts = splitIdentifier(name);
    const fitting = parts.filter((part) => this.stemsOf(part) !== 0);
    return parts.length === 0 ? 0 : fitting.length / parts.length;
  }

  private bodyStems(
    lines: readonly string[],
    inLines: readonly Stems[],
    kinds: readonly { readonly kind: string }[],
    start: number,
  ): Stems {
    const indent = indentOf(lines[start] ?? '');
    let found = 0;
    const end = Math.min(lines.length, start + 1 + bodyLines);
    for (let index = start + 1; index < end; index += 1) {
      const isNextDefinition =
        (kinds[index]?.kind === 'definition' || kinds[index]?.kind === 'heading') &&
        indentOf(lines[index] ?? '') <= indent;
      if (isNextDefinition) break;
      found |= inLines[index] ?? 0;
    }
    return found;
  }
}

/** `config` and `configuration`, `auth` and `authentication`: one begins the other. */
function isSameWord(part: string, wanted: string): boolean {
  if (part === wanted) return true;
  if (part.length < 4 || wanted.length < 4) return false;
  return part.startsWith(wanted) || wanted.startsWith(part);
}

/** What a file is good for when somebody asks where something is. */
function fileFactor(path: string): number {
  if (
    /(?:^|\/)(?:package-lock\.json|yarn\.lock|pnpm-lock\.yaml)$|\.(?:lock|min\.js|map|svg|csv|snap)$/i.test(
      path,
    )
  )
    return 0.1;
  if (/(?:^|\/)(?:tests?|__tests__|spec|fixtures?|examples?)\/|\.(?:test|spec)\.\w+$|_test\.\w+$/i.test(path))
    return 0.5;
  if (/\.(?:md|mdx|markdown|txt|rst|adoc)$/i.test(path)) return 0.6;
  if (/\.(?:json|ya?ml|toml|xml|html)$/i.test(path)) return 0.5;
  return 1;
}

function lineFactor(kind: string, indent: number): number {
  switch (kind) {
    case 'definition':
      return indent === 0 ? 1.2 : indent <= 4 ? 0.9 : 0.6;
    case 'comment':
      return 0.5;
    case 'import':
      return 0.3;
    default:
      return 0.7;
  }
}

/** Decides which candidates of a file are kept, before the weights of the words are known. */
function richness(candidate: Candidate): number {
  return (
    countBits(candidate.inLine | candidate.inComment) +
    2 * countBits(candidate.inName) +
    3 * candidate.exact +
    (candidate.isDefinition ? 0.5 : 0)
  );
}

function countBits(stems: Stems): number {
  let count = 0;
  for (let rest = stems >>> 0; rest !== 0; rest >>>= 1) count += rest & 1;
  return count;
}
