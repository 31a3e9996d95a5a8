/** Small texts made from values. */
import * as v from 'valibot';

export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.max(0, Math.round(milliseconds))} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const minutes = Math.floor(milliseconds / 60_000);
  return `${minutes} min ${Math.round((milliseconds % 60_000) / 1000)} s`;
}

const jsonText = v.pipe(v.string(), v.parseJson());
const argumentsText = v.pipe(jsonText, v.record(v.string(), v.unknown()));
const longestSummary = 120;

/** What a call is about, on one line: its plain values. The model's text may be no JSON at all. */
export function summariseArguments(text: string): string {
  const parsed = v.safeParse(argumentsText, text);
  const summary = parsed.success
    ? Object.values(parsed.output)
        .filter((value) => typeof value === 'string' || typeof value === 'number')
        .join(', ')
    : text;
  const line = summary.replace(/\s+/g, ' ').trim();
  return line.length > longestSummary ? `${line.slice(0, longestSummary - 1)}…` : line;
}

export function tidyJson(text: string): string {
  const parsed = v.safeParse(jsonText, text);
  return parsed.success ? JSON.stringify(parsed.output, null, 2) : text;
}
