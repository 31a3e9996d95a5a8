import { type Server, extensionHosts } from './server.ts';
import { signalProcess } from './processes.ts';
import { until } from './until.ts';

export interface Killed {
  readonly killed: readonly number[];
  /** All hosts that ran before, so that a new one can be told from another window's. */
  readonly before: readonly number[];
  /** The moment of the kill, as of Date.now(). */
  readonly at: number;
}

/** `kill -9` of one window's extension host (of all when no id is given), without waiting for the next one. */
export function killExtensionHost(server: Server, pid?: number): Killed {
  const running = extensionHosts(server.pid);
  const chosen = running.filter((host) => pid === undefined || host.pid === pid);
  if (chosen.length === 0) throw new Error('There is no running extension host to kill');
  const at = Date.now();
  for (const host of chosen) signalProcess(host, 'SIGKILL');
  return { killed: chosen.map((host) => host.pid), before: running.map((host) => host.pid), at };
}

/**
 * Waits until as many new hosts run as were killed, and gives their ids. VS Code restarts a host after about a second,
 * twice within five minutes; the third time it shows an error with a button instead. A server with the smoke-test
 * driver never does.
 */
export async function extensionHostRestarted(server: Server, { killed, before }: Killed): Promise<number[]> {
  return until(
    () => {
      const fresh = server.extensionHosts().filter((pid) => !before.includes(pid));
      return fresh.length >= killed.length && fresh;
    },
    { what: 'the extension host to restart', timeout: 30_000 },
  );
}
