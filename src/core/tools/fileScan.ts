/** Collects the lines of one file that may answer a search for words, each with what surrounds it. */
import { classifyLine, indentOf, type LineKind } from './definitions.ts';
import { countBits, type StemMatcher, type Stems } from './stemMatcher.ts';

export interface Candidate {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
  readonly inLine: Stems;
  /** Of a definition: its name, the comment above it, the lines of its body. */
  readonly inName: Stems;
  readonly nameFit: number;
  readonly inComment: Stems;
  readonly inBody: Stems;
  readonly inPath: Stems;
  readonly inFile: Stems;
  /** How many identifiers the user wrote out stand in the line as they are. */
  readonly exact: number;
  /** What a line of this kind in a file of this kind is worth. */
  readonly factor: number;
}

const maxCandidates = 40;
/** How far below a definition its body is looked at. */
const bodyLines = 40;

/** `candidates`: the richest ones; `inFile`: every searched word that the file or its path holds. */
export function scanFile(
  path: string,
  lines: readonly string[],
  matcher: StemMatcher,
): { readonly candidates: readonly Candidate[]; readonly inFile: Stems } {
  const inLines = lines.map((line) => matcher.find(line));
  const inPath = matcher.find(path);
  const inFile = inLines.reduce((union, found) => union | found, inPath);
  if (inFile === inPath && inLines.every((found) => found === 0)) return { candidates: [], inFile };
  const isMarkdown = /\.(?:md|mdx|markdown)$/i.test(path);
  const kindOf = (index: number): LineKind => classifyLine(lines[index] ?? '', isMarkdown);
  const candidates: Candidate[] = [];
  let inComment = 0;
  for (const [index, inLine] of inLines.entries()) {
    if (inLine === 0 && inComment === 0) continue; // nearly every line: not worth classifying
    const text = lines[index] ?? '';
    const { kind, name } = kindOf(index);
    const isDefinition = kind === 'definition' || kind === 'heading';
    if (inLine !== 0 || isDefinition) {
      candidates.push({
        path,
        line: index + 1,
        text,
        inLine,
        inName: isDefinition ? matcher.find(name) : 0,
        nameFit: isDefinition ? matcher.fit(name) : 0,
        inComment: isDefinition ? inComment : 0,
        inBody: isDefinition ? bodyStems(lines, inLines, kindOf, index) : 0,
        inPath,
        inFile,
        exact: matcher.countIdentifiers(text),
        factor: fileFactor(path) * lineFactor(kind, indentOf(text)),
      });
    }
    inComment = kind === 'comment' ? inComment | inLine : 0;
  }
  candidates.sort((one, other) => richness(other) - richness(one) || one.line - other.line);
  return { candidates: candidates.slice(0, maxCandidates), inFile };
}

function bodyStems(
  lines: readonly string[],
  inLines: readonly Stems[],
  kindOf: (index: number) => LineKind,
  start: number,
): Stems {
  const indent = indentOf(lines[start] ?? '');
  const end = Math.min(lines.length, start + 1 + bodyLines);
  let found = 0;
  for (let index = start + 1; index < end; index += 1) {
    if (indentOf(lines[index] ?? '') <= indent) {
      const { kind } = kindOf(index);
      if (kind === 'definition' || kind === 'heading') break;
    }
    found |= inLines[index] ?? 0;
  }
  return found;
}

/** What a file is good for when somebody asks where something is. */
function fileFactor(path: string): number {
  if (/(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml)$|\.(?:lock|min\.js|map|svg|csv|snap)$/i.test(path))
    return 0.1;
  if (/(?:^|\/)(?:tests?|__tests__|spec|fixtures?|examples?)\/|\.(?:test|spec)\.\w+$|_test\.\w+$/i.test(path))
    return 0.5;
  if (/\.(?:md|mdx|markdown|txt|rst|adoc)$/i.test(path)) return 0.6;
  if (/\.(?:json|ya?ml|toml|xml|html)$/i.test(path)) return 0.5;
  return 1;
}

function lineFactor(kind: LineKind['kind'], indent: number): number {
  switch (kind) {
    case 'definition':
      return indent === 0 ? 1.2 : indent <= 4 ? 0.9 : 0.6;
    case 'comment':
      return 0.5;
    case 'import':
      return 0.3;
    case 'heading':
    case 'other':
      return 0.7;
  }
}

/** Decides which candidates of a file are kept, before the weights of the words are known. */
function richness(candidate: Candidate): number {
  return (
    countBits(candidate.inLine | candidate.inComment) + 2 * countBits(candidate.inName) + 3 * candidate.exact
  );
}
