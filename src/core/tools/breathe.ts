/** Lets the rest of the extension host run after every few milliseconds of work; resolves to the new start of work. */
export async function breathe(since: number): Promise<number> {
  if (performance.now() - since < 10) return since;
  await new Promise(setImmediate);
  return performance.now();
}
