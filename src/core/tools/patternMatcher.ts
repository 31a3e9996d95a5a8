/**
 * Finds the lines of a text that match a pattern a model wrote. A regular expression runs inside a context of its own
 * with a time limit, because one like `(a+)+$` would otherwise hold the whole extension host.
 */
import { createContext, Script } from 'node:vm';
import { escapeRegExp } from './glob.ts';
import { ToolError } from './tool.ts';

/** Milliseconds for one file. */
const timeLimit = 500;

export interface PatternMatcher {
  /** False only when no line of the text can match: most files end here, before they are cut into lines. */
  mayMatch(text: string): boolean;
  /** Indexes of at most `limit` matching lines. Raises `ToolError` when the pattern takes too long. */
  matchingLines(lines: readonly string[], limit: number): number[];
}

/** Raises `ToolError` for a pattern that does not compile. */
export function makePatternMatcher(
  query: string,
  options: { readonly isRegex: boolean; readonly caseSensitive: boolean },
): PatternMatcher {
  const flags = options.caseSensitive ? 'u' : 'iu';
  const pattern = options.isRegex ? compile(query, flags) : new RegExp(escapeRegExp(query), flags);
  if (!options.isRegex) {
    return {
      mayMatch: (text) => pattern.test(text),
      matchingLines: (lines, limit) => collect(lines, limit, (line) => pattern.test(line)),
    };
  }
  const context = createContext({ source: pattern.source, flags: pattern.flags, lines: '', limit: 0 });
  // Only strings and numbers cross into the context, and only JSON text comes back.
  const script = new Script(`{
    const pattern = new RegExp(source, flags);
    const found = [];
    for (const [index, line] of JSON.parse(lines).entries()) {
      if (pattern.test(line) && found.push(index) >= limit) break;
    }
    JSON.stringify(found);
  }`);
  return {
    mayMatch: () => true,
    matchingLines(lines, limit) {
      Object.assign(context, { lines: JSON.stringify(lines), limit });
      try {
        return parseIndexes(script.runInContext(context, { timeout: timeLimit }));
      } catch (error) {
        throw new ToolError(
          'arguments',
          `The pattern ${query} takes too long on this workspace; search for something simpler.`,
          { cause: error },
        );
      }
    },
  };
}

function compile(query: string, flags: string): RegExp {
  try {
    return new RegExp(query, flags);
  } catch (strict) {
    try {
      // Patterns written for other engines escape more than the `u` flag allows.
      return new RegExp(query, flags.replace('u', ''));
    } catch {
      const cause = strict instanceof Error ? strict.message : String(strict);
      throw new ToolError('arguments', `The pattern is not a valid regular expression: ${cause}.`, {
        cause: strict,
      });
    }
  }
}

function collect(lines: readonly string[], limit: number, matches: (line: string) => boolean): number[] {
  const found: number[] = [];
  for (const [index, line] of lines.entries()) {
    if (matches(line) && found.push(index) >= limit) break;
  }
  return found;
}

function parseIndexes(json: unknown): number[] {
  const found: unknown = JSON.parse(String(json));
  return Array.isArray(found) ? found.filter((index): index is number => typeof index === 'number') : [];
}
