/** Lines of a stream. Only a newline ends one: JSON may hold every other line separator as it is. */

/** Ends quietly when `signal` fires, without the unfinished last line. */
export async function* readLines(
  stream: AsyncIterable<string> & { destroy(): unknown },
  signal: AbortSignal,
): AsyncGenerator<string> {
  const stop = (): void => void stream.destroy();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop);
  let rest = '';
  try {
    for await (const chunk of stream) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (signal.aborted) return;
        yield line;
      }
    }
  } catch (error) {
    // Destroying the stream is how the signal ends the loop; anything else is a fault of the input.
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
  if (rest !== '' && !signal.aborted) yield rest;
}
