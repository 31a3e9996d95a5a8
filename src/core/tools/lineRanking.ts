/**
 * Ranks the lines of a workspace for a handful of words: where a thing is defined comes before where it is mentioned,
 * rare words weigh more than common ones, and a line is judged with its comment, its file's path and what follows.
 */
import { scanFile, type Candidate } from './fileScan.ts';
import { countBits, StemMatcher, type Stems } from './stemMatcher.ts';
import type { SearchWord } from './words.ts';

export interface RankedLine {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
  readonly score: number;
}

export class LineRanking {
  private readonly matcher: StemMatcher;
  private readonly candidates: Candidate[] = [];
  private readonly filesWith: number[];
  private files = 0;

  constructor(words: readonly SearchWord[]) {
    this.matcher = new StemMatcher(words);
    this.filesWith = this.matcher.stems.map(() => 0);
  }

  /** `toLines`: cuts the text, which is done only for files that may hold one of the words. */
  addFile(path: string, text: string, toLines: (text: string) => readonly string[]): void {
    this.files += 1;
    if (!this.matcher.mayHold(text)) return;
    const { candidates, inFile } = scanFile(path, toLines(text), this.matcher);
    this.candidates.push(...candidates);
    for (const [index, count] of this.filesWith.entries()) {
      if (inFile & (1 << index)) this.filesWith[index] = count + 1;
    }
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
    ranked.sort((one, other) => other.score - one.score || byPlace(one, other));
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
    const coverage = countBits(near) / weights.length;
    const base =
      weigh(inLine) +
      (1 + candidate.nameFit) * weigh(inName) +
      0.6 * weigh(inComment & ~inLine) +
      0.3 * weigh(inBody & ~inLine & ~inComment) +
      0.3 * weigh(inPath & ~inLine) +
      0.1 * weigh(inFile & ~near);
    return (base * (0.4 + 0.6 * coverage) + 3 * candidate.exact) * candidate.factor;
  }
}

function byPlace(one: RankedLine, other: RankedLine): number {
  if (one.path !== other.path) return one.path < other.path ? -1 : 1;
  return one.line - other.line;
}
