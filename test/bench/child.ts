/** A process of its own that answers one question at a time (its side: answering.ts). */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import * as path from 'node:path';
import * as v from 'valibot';

const answerSchema = v.variant('type', [
  v.object({ type: v.literal('answer'), value: v.optional(v.unknown()) }),
  v.object({ type: v.literal('failed'), message: v.string() }),
]);

export class Child {
  readonly #process: ChildProcess;

  /** `name`: of the file in processes/, without its ending. */
  constructor(name: string, words: readonly string[] = []) {
    const file = path.join(import.meta.dirname, 'processes', `${name}.ts`);
    this.#process = fork(file, words, {
      execArgv: ['--import=tsx', '--expose-gc'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
  }

  /** Rejects with what went wrong there, or if the process ends without an answer. */
  async ask<Schema extends v.GenericSchema>(
    schema: Schema,
    question: string,
  ): Promise<v.InferOutput<Schema>> {
    const waiting = new AbortController();
    const { signal } = waiting;
    this.#process.send(question);
    try {
      const answer = await Promise.race([
        once(this.#process, 'message', { signal }).then(([message]: unknown[]) =>
          v.parse(answerSchema, message),
        ),
        once(this.#process, 'exit', { signal }).then(([code]: unknown[]) => {
          throw new Error(`The process ended with ${String(code)} while it was asked to ${question}`);
        }),
      ]);
      if (answer.type === 'failed') throw new Error(answer.message);
      return v.parse(schema, answer.value);
    } finally {
      waiting.abort();
    }
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.disconnect();
    await ended;
  }
}

/** Runs `use` with a process that is ended afterwards. */
export async function withChild<T>(
  name: string,
  words: readonly string[],
  use: (child: Child) => Promise<T>,
): Promise<T> {
  const child = new Child(name, words);
  try {
    return await use(child);
  } finally {
    await child.end();
  }
}
