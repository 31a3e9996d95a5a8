import { type ChildProcess, spawn } from 'node:child_process';
import { projectRoot } from '../../test/support/vscode/paths.ts';

export interface GuardedOptions {
  readonly environment?: NodeJS.ProcessEnv;
  /** Seconds after which the whole process group is ended. */
  readonly limit: number;
  /** Asked every second: the work is done, so the process has `lingerLimit` seconds left to end by itself. */
  readonly isDone?: () => boolean;
}

export interface GuardedResult {
  readonly code: number;
  /** Why it had to be ended, or undefined. */
  readonly ended: string | undefined;
}

const lingerLimit = 30;

/**
 * Runs a test process in a group of its own, so that a hung one can be ended together with what it started, and
 * nothing else on the machine.
 */
export function runGuarded(args: readonly string[], options: GuardedOptions): Promise<GuardedResult> {
  const ownGroup = process.platform !== 'win32';
  const child = spawn(process.execPath, args, {
    cwd: projectRoot,
    detached: ownGroup,
    env: { ...process.env, ...options.environment },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const forward = (signal: NodeJS.Signals) => endGroup(child, signal, ownGroup);
  process.on('SIGINT', forward);
  process.on('SIGTERM', forward);
  return new Promise((resolve) => {
    const start = Date.now();
    let doneAt: number | undefined;
    let ended: string | undefined;
    const watch = setInterval(() => {
      if (ended !== undefined) return;
      if (options.isDone?.() === true) doneAt ??= Date.now();
      if (Date.now() - start > options.limit * 1000) ended = `it did not end within ${options.limit} s`;
      else if (doneAt !== undefined && Date.now() - doneAt > lingerLimit * 1000) {
        ended = `it did not end within ${lingerLimit} s after its last test: something was left open`;
      }
      if (ended === undefined) return;
      endGroup(child, 'SIGTERM', ownGroup);
      setTimeout(() => endGroup(child, 'SIGKILL', ownGroup), 10_000).unref();
    }, 1_000);
    const finish = (code: number) => {
      clearInterval(watch);
      process.off('SIGINT', forward);
      process.off('SIGTERM', forward);
      resolve({ code, ended });
    };
    child.once('error', (error) => {
      console.error(error.message);
      finish(127);
    });
    child.once('exit', (code, signal) => {
      if (signal !== null && ended === undefined) ended = `it was ended by ${signal}`;
      finish(code ?? 128);
    });
  });
}

function endGroup(child: ChildProcess, signal: NodeJS.Signals, ownGroup: boolean): void {
  if (child.pid === undefined) return;
  if (!ownGroup) {
    child.kill(signal);
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    // The group has ended by itself meanwhile.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
