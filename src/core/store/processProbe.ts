/** Who this process is, and whether another one still runs. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import { systemErrorCode } from './errors.ts';

export interface ProcessProbe {
  readonly pid: number;
  /** When the process started, as the system counts; null: not known on this system. */
  readonly start: string | null;
  /** The host since its last boot, and the namespace in which process ids mean something (a container is a host). */
  readonly host: string;
  /** Whether a process with this id that started then still runs. */
  isRunning(pid: number, start: string | null): boolean;
  /** Whether any process has this id. That costs no look at a file, but the id may have been given to another one. */
  isInUse(pid: number): boolean;
}

function readOrNull(file: string): string | null {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (systemErrorCode(error) === null) throw error;
    return null;
  }
}

/** State and start time of a process from Linux's /proc; null elsewhere, or if it is gone. */
function procStat(pid: number): { state: string; start: string } | null {
  const text = readOrNull(`/proc/${pid}/stat`);
  if (text === null) return null;
  // The name, in parentheses, may hold anything; what follows it is numbered from 3.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', start: fields[19] ?? '' };
}

function pidNamespace(): string {
  try {
    return fs.readlinkSync('/proc/self/ns/pid');
  } catch (error) {
    if (systemErrorCode(error) === null) throw error;
    return '';
  }
}

function isInUse(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemErrorCode(error) === 'EPERM';
  }
}

export function systemProbe(): ProcessProbe {
  const boot = readOrNull('/proc/sys/kernel/random/boot_id')?.trim() ?? os.hostname();
  return {
    pid: process.pid,
    start: procStat(process.pid)?.start ?? null,
    host: `${boot} ${pidNamespace()}`.trim(),
    isRunning(pid, start) {
      const stat = procStat(pid);
      if (stat === null || start === null) return isInUse(pid);
      return stat.start === start && stat.state !== 'Z' && stat.state !== 'X';
    },
    isInUse,
  };
}
