/** Thrown by `untilAborted`; callers recognise it by its class. */
export class Aborted extends Error {
  override readonly name = 'Aborted';
}

/**
 * The promise's outcome, or `Aborted` as soon as `signal` aborts: a model or a tool that ignores the signal must not
 * keep a stopped turn alive. What the abandoned promise does later is ignored.
 */
export function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new Aborted());
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    promise.then(
      (value) => {
        signal.removeEventListener('abort', abort);
        resolve(value);
      },
      (error: unknown) => {
        signal.removeEventListener('abort', abort);
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}
