import { readdirSync, readFileSync } from 'node:fs';

/** One process as /proc shows it. The start time tells a reused process id from the process we knew. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly startTime: string;
  readonly command: string;
}

/** Everything below reads /proc: the browser-hosted VS Code exists for Linux only. */
function readProcess(pid: number): ProcessEntry | undefined {
  let stat: string;
  let command: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch (error) {
    if (hasEnded(error)) return undefined;
    throw error;
  }
  // The second field is the name in parentheses and may hold blanks, so count from the last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z') return undefined;
  return {
    pid,
    parent: Number(fields[1]),
    startTime: fields[19] ?? '',
    command: command.split('\0').join(' ').trim(),
  };
}

function hasEnded(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOENT' || code === 'ESRCH';
}

/** The process and all its descendants, parents first. */
export function processTree(root: number): ProcessEntry[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcess(Number(name)))
    .filter((entry) => entry !== undefined);
  const tree = all.filter((entry) => entry.pid === root);
  for (const parent of tree) {
    tree.push(...all.filter((entry) => entry.parent === parent.pid));
  }
  return tree;
}

/** Whether it is still the same process, not another one that was given its id. */
export function isAlive(known: ProcessEntry): boolean {
  return readProcess(known.pid)?.startTime === known.startTime;
}

/** Sends a signal to a process that we know to be ours; having ended meanwhile is no error. */
export function signalProcess(known: ProcessEntry, signal: NodeJS.Signals): void {
  if (!isAlive(known)) return;
  try {
    process.kill(known.pid, signal);
  } catch (error) {
    if (!hasEnded(error)) throw error;
  }
}
