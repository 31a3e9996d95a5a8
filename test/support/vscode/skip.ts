/**
 * Skips the running test (or, from a hook, its whole suite) with a reason that the report prints: a skip without
 * words looks like a pass. scripts/lib/countingReporter.cjs reads it from the title.
 */
export function skipBecause(context: Mocha.Context, reason: string): never {
  const runnable = context.test ?? context.currentTest;
  if (runnable === undefined) throw new Error(`Nothing runs that could be skipped: ${reason}`);
  const isHook = 'type' in runnable && runnable.type === 'hook';
  const owner = isHook ? runnable.parent : runnable;
  if (owner !== undefined) owner.title += ` «skipped: ${reason}»`;
  context.skip();
}
