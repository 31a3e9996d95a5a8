/** Finds the searched words in text: fast enough for every line of a workspace. */
import { lineTokens, splitIdentifier, stem, type SearchWord } from './words.ts';

/** A set of the searched stems, one bit each. */
export type Stems = number;

const maxStems = 31;

export class StemMatcher {
  readonly stems: readonly string[];
  private readonly cjk: ReadonlySet<string>;
  /** Identifiers of more than one part, lower case. */
  private readonly identifiers: readonly string[];
  /** A text that holds none of these, in lower case, holds none of the words. */
  private readonly probes: readonly string[];
  private readonly known = new Map<string, Stems>();

  constructor(words: readonly SearchWord[]) {
    this.stems = [...new Set(words.flatMap((word) => word.stems))].slice(0, maxStems);
    this.cjk = new Set(words.filter((word) => word.isCjk).flatMap((word) => word.stems));
    this.identifiers = words.filter((word) => word.stems.length > 1).map((word) => word.text.toLowerCase());
    // Stems end with `i` where words end with `y`.
    this.probes = this.stems.map((wanted) =>
      this.cjk.has(wanted) ? wanted : wanted.slice(0, 4).replace(/i$/, ''),
    );
  }

  mayHold(text: string): boolean {
    const lower = text.toLowerCase();
    return this.probes.some((probe) => lower.includes(probe));
  }

  find(text: string): Stems {
    if (!this.mayHold(text)) return 0;
    let found = 0;
    for (const token of lineTokens(text)) found |= this.findInToken(token);
    return found;
  }

  /** Share of a name's parts that are searched for: `RentalError` fits better than `RentalErrorCode`. */
  fit(name: string): number {
    const parts = splitIdentifier(name);
    return parts.length === 0 ? 0 : parts.filter((part) => this.find(part) !== 0).length / parts.length;
  }

  /** How many of the searched identifiers stand in the text as they were written. */
  countIdentifiers(text: string): number {
    if (this.identifiers.length === 0) return 0;
    const lower = text.toLowerCase();
    return this.identifiers.filter((identifier) => lower.includes(identifier)).length;
  }

  private findInToken(token: string): Stems {
    const known = this.known.get(token);
    if (known !== undefined) return known;
    const parts = splitIdentifier(token).map(stem);
    let found = 0;
    for (const [index, wanted] of this.stems.entries()) {
      const isThere = this.cjk.has(wanted)
        ? token.includes(wanted)
        : parts.some((part) => isSameWord(part, wanted));
      if (isThere) found |= 1 << index;
    }
    this.known.set(token, found);
    return found;
  }
}

/** `config` and `configuration`, `auth` and `authentication`: one begins the other. */
function isSameWord(part: string, wanted: string): boolean {
  if (part === wanted) return true;
  if (part.length < 4 || wanted.length < 4) return false;
  return part.startsWith(wanted) || wanted.startsWith(part);
}

export function countBits(stems: Stems): number {
  let count = 0;
  for (let rest = stems >>> 0; rest !== 0; rest >>>= 1) count += rest & 1;
  return count;
}
