/** `holdfast`: the chats from a terminal, built to dist/cli.cjs. Decides exit codes; the verbs do the work. */
import { setFlagsFromString } from 'node:v8';
import { Appender, AppendError } from './append.ts';
import { ask, type AskEnding } from './ask.ts';
import { parseCommand, usage, UsageError, type Command } from './arguments.ts';
import { changeLifecycle } from './lifecycle.ts';
import { readLines } from './lines.ts';
import { printList, readList, showChat } from './list.ts';
import { lookInto, programIn, withStore, type Program } from './openStore.ts';
import { plainLine, printJson, type Output } from './output.ts';
import { verifyFolder } from '../core/store/verify/verifyFolder.ts';
import { printReport } from './printReport.ts';
import { runBackup, runExport, runRestore, runSalvage } from './transfer.ts';
import {
  StoreError,
  StoreUnavailableError,
  systemErrorCode,
  UnknownSessionError,
} from '../core/store/errors.ts';
import { RefusedError } from '../core/runtime/problems.ts';
import type { Store } from '../core/store/store.ts';

const exitCodes = { done: 0, failed: 1, usage: 2, unknown: 3, interrupted: 130 } as const;

const output: Output = {
  print: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
};

/** Whoever read our output has seen enough (`holdfast list | head`), or its terminal was closed. */
let readerLeft = (): void => process.exit(exitCodes.failed);

async function runCommand(command: Command, program: Program): Promise<number> {
  const { folder, json } = command;
  switch (command.verb) {
    case 'append':
      return appendLines(command, program);
    case 'ask':
      return askModel(command, program);
    case 'list':
      if (lookInto(folder) === 'nothing') {
        output.complain(`There are no chats in ${folder} yet.\n`);
        if (json) printList([], json, output);
        return exitCodes.done;
      }
      return runReading(command, program, async (store) => {
        let isWhole = true;
        const onUnreadable = ({ message }: Error): void => {
          isWhole = false;
          output.complain(`${plainLine(message)}\n`);
        };
        printList(readList(store, command.which, onUnreadable), json, output);
        return isWhole;
      });
    case 'show':
    case 'archive':
    case 'reopen': {
      const { verb, sessionId } = command;
      if (lookInto(folder) === 'nothing') throw new UnknownSessionError(sessionId);
      await withStore({ program, folder, output, makesCheckpoints: false }, async (store) => {
        if (verb === 'show') showChat(store, sessionId, json, output);
        else await changeLifecycle(store, verb, sessionId, json, output);
      });
      return exitCodes.done;
    }
    case 'export':
      return runReading(command, program, async (store) =>
        runExport(store, command.sessionId, command.format, output),
      );
    case 'backup':
      return runReading(command, program, async (store) => runBackup(store, command.path, json, output));
    case 'restore':
      lookInto(folder);
      await withStore({ program, folder, output, makesCheckpoints: true }, async (store) => {
        await runRestore(store, command.path, json, output);
        await store.checkpointSettled();
      });
      return exitCodes.done;
    case 'salvage': {
      if (lookInto(folder) === 'nothing') throw new StoreUnavailableError(folder, 'it holds no chats');
      const isWhole = await runSalvage(program, folder, command.path, json, output);
      return isWhole ? exitCodes.done : exitCodes.failed;
    }
    case 'verify': {
      lookInto(folder);
      const report = await verifyFolder(folder, program.wasmFile);
      if (json) printJson(output, report);
      else printReport(report, output);
      return report.ok ? exitCodes.done : exitCodes.failed;
    }
  }
}

/**
 * A command that only reads the store, however large that is; `use` says whether all could be read. What it has read is garbage
 * at once: V8 would let more of that gather than the whole state takes, unless it is told to prefer memory to speed.
 */
async function runReading(
  { folder }: Command,
  program: Program,
  use: (store: Store) => Promise<boolean>,
): Promise<number> {
  if (lookInto(folder) === 'nothing') throw new StoreUnavailableError(folder, 'it holds no chats');
  setFlagsFromString('--optimize-for-size');
  const isWhole = await withStore({ program, folder, output, makesCheckpoints: false }, use);
  return isWhole ? exitCodes.done : exitCodes.failed;
}

async function appendLines(command: Extract<Command, { verb: 'append' }>, program: Program): Promise<number> {
  const { folder, sessionId, title, window } = command;
  const ending = new AbortController();
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.on(signal, () => ending.abort());
  const input = process.stdin.setEncoding('utf8');
  await withStore({ program, folder, output, makesCheckpoints: true }, async (store) => {
    let count = 0;
    const appender = new Appender(store, {
      sessionId,
      title,
      window,
      now: Date.now,
      acknowledge: (id) => {
        count += 1;
        output.print(`${id}\n`);
      },
    });
    try {
      await appender.run(readLines(input, ending.signal));
    } finally {
      input.destroy();
    }
    if (!ending.signal.aborted) await store.checkpointSettled();
    else if (count > 0) await appender.shutDown();
  });
  return exitCodes.done;
}

async function askModel(command: Extract<Command, { verb: 'ask' }>, program: Program): Promise<number> {
  const { folder, sessionId, text, json, endpoint } = command;
  const ending = new AbortController();
  const end = (how: AskEnding): void => {
    if (ending.signal.aborted) process.exit(exitCodes.interrupted); // asked twice: it is in a hurry
    ending.abort(how);
  };
  process.on('SIGINT', () => end('stop'));
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end('cleanup'));
  readerLeft = () => ending.abort('stop');
  const request = {
    text,
    sessionId,
    json,
    endpoint: endpoint === null ? null : { ...endpoint, apiKey: readKey(endpoint.apiKeyEnv) },
    folder: process.cwd(),
    signal: ending.signal,
  };
  if (lookInto(folder) === 'nothing' && sessionId !== null) throw new UnknownSessionError(sessionId);
  const outcome = await withStore({ program, folder, output, makesCheckpoints: true }, async (store) => {
    const outcome = await ask(store, request, output);
    if (outcome === 'complete') await store.checkpointSettled();
    return outcome;
  });
  return { complete: exitCodes.done, failed: exitCodes.failed, interrupted: exitCodes.interrupted }[outcome];
}

/** Throws UsageError. Null: no key is needed. */
function readKey(name: string | null): string | null {
  if (name === null) return null;
  const key = process.env[name];
  if (key === undefined || key === '') throw new UsageError(`The environment variable ${name} holds no key.`);
  return key;
}

/** What the user is told about a failure, and the exit code. */
function explain(error: unknown, words: readonly string[]): number {
  if (error instanceof UsageError) {
    output.complain(`${error.message}\n\n${usage}`);
    return exitCodes.usage;
  }
  const isExpected =
    error instanceof StoreError || error instanceof AppendError || error instanceof RefusedError;
  if (isExpected || systemErrorCode(error) !== null) {
    output.complain(`${error instanceof Error ? error.message : String(error)}\n`);
  } else {
    const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
    output.complain(`holdfast ${words[0] ?? ''} failed unexpectedly: ${details}\n`);
  }
  if (error instanceof UnknownSessionError) return exitCodes.unknown;
  return error instanceof AppendError && error.reason === 'malformed_line'
    ? exitCodes.usage
    : exitCodes.failed;
}

async function main(words: readonly string[]): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      const code = systemErrorCode(error);
      if (code !== 'EPIPE' && code !== 'EIO') throw error;
      readerLeft();
    });
  }
  try {
    const command = parseCommand(words);
    if (command === null) output.print(usage);
    else process.exitCode = await runCommand(command, programIn(__dirname));
  } catch (error) {
    process.exitCode = explain(error, words);
  }
}

void main(process.argv.slice(2));
