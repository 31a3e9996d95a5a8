/** How long ago something was, in the few letters a list has room for. */

const steps = [
  { unit: 'y', milliseconds: 365 * 86_400_000 },
  { unit: 'mo', milliseconds: 30 * 86_400_000 },
  { unit: 'd', milliseconds: 86_400_000 },
  { unit: 'h', milliseconds: 3_600_000 },
  { unit: 'min', milliseconds: 60_000 },
] as const;

/** `then` and `now` are Unix times in milliseconds; a clock that was set back counts as now. */
export function age(then: number, now: number): string {
  for (const { unit, milliseconds } of steps) {
    const count = Math.floor((now - then) / milliseconds);
    if (count >= 1) return `${count} ${unit}`;
  }
  return 'now';
}
