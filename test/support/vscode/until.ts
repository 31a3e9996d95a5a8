import { setTimeout as pause } from 'node:timers/promises';

export interface UntilOptions {
  /** What is awaited, for the message of the failure. */
  readonly what: string;
  readonly timeout?: number;
  readonly interval?: number;
}

/**
 * Polls until the condition gives something other than undefined, null or false, and returns that. The only place
 * in the tests that lets time pass: a test says what it waits for, never how long.
 */
export async function until<Value>(
  condition: () => Value | Promise<Value>,
  { what, timeout = 20_000, interval = 40 }: UntilOptions,
): Promise<Exclude<Value, undefined | null | false>> {
  const end = Date.now() + timeout;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== null && value !== false) {
      return value as Exclude<Value, undefined | null | false>;
    }
    if (Date.now() > end) throw new Error(`Waited ${timeout / 1000} s in vain for ${what}`);
    await pause(interval);
  }
}
