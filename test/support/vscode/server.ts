import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type ProcessEntry, isAlive, processTree, signalProcess } from './processes.ts';
import { type Settings, quietSettings, settingsFile, writeSettings } from './settings.ts';
import { until } from './until.ts';
import { ensureVscodeWeb } from './webInstall.ts';

export interface ServerOptions {
  /** Holds everything of this server: user data, extensions, log. A second start on it finds the first one's data. */
  readonly directory: string;
  readonly port?: number;
  readonly settings?: Settings;
  readonly userDataDirectory?: string;
  readonly extensionsDirectory?: string;
  /** Reaches the extension host. */
  readonly environment?: NodeJS.ProcessEnv;
  /**
   * Only with it does the workbench take a development extension or a test module from its address. It also turns
   * notification toasts off and leaves a killed extension host dead, so an end-to-end test goes without.
   */
  readonly smokeTestDriver?: boolean;
  /** Seconds an extension host outlives a browser that vanished; VS Code's own default is three hours. */
  readonly reconnectionGraceTime?: number;
  readonly arguments?: readonly string[];
  /** Keeps a terminal's Ctrl+C away from the server, so that whoever started it can stop it in order. */
  readonly ownProcessGroup?: boolean;
}

export interface Server {
  readonly pid: number;
  readonly port: number;
  readonly address: string;
  readonly directory: string;
  readonly userDataDirectory: string;
  readonly extensionsDirectory: string;
  /** Where the extension's `globalStorageUri` lies on disk. */
  readonly globalStorage: string;
  /** Process ids of the running extension hosts, one per window. */
  extensionHosts(): number[];
  log(): string;
  /** Calls back when the server ends without having been stopped. */
  onEnded(listener: () => void): void;
  stop(): Promise<void>;
}

/** Starts the browser-hosted VS Code on 127.0.0.1 and resolves when it answers. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const vscode = await ensureVscodeWeb();
  const port = options.port ?? (await freePort());
  const { directory } = options;
  const userDataDirectory = options.userDataDirectory ?? join(directory, 'user-data');
  const extensionsDirectory = options.extensionsDirectory ?? join(directory, 'extensions');
  mkdirSync(extensionsDirectory, { recursive: true });
  mkdirSync(directory, { recursive: true });
  if (options.settings !== undefined || !existsSync(settingsFile(userDataDirectory))) {
    writeSettings(userDataDirectory, { ...quietSettings, ...options.settings });
  }
  // Without a file of its own code-server would write one into the user's home.
  const configuration = join(directory, 'config.yaml');
  writeFileSync(configuration, '');
  const logFile = join(directory, 'server.log');
  const log = openSync(logFile, 'a');
  const child = spawn(
    vscode.node,
    [
      vscode.entry,
      ...['--config', configuration, '--bind-addr', `127.0.0.1:${port}`, '--auth', 'none'],
      ...['--user-data-dir', userDataDirectory, '--extensions-dir', extensionsDirectory],
      ...['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'],
      ...['--reconnection-grace-time', String(options.reconnectionGraceTime ?? 5)],
      ...(options.smokeTestDriver === true ? ['--vscode-option', 'enable-smoke-test-driver'] : []),
      ...(options.arguments ?? ['--disable-workspace-trust']),
    ],
    {
      stdio: ['ignore', log, log],
      env: { ...cleanEnvironment(), ...options.environment },
      detached: options.ownProcessGroup === true,
    },
  );
  closeSync(log);
  const address = `http://127.0.0.1:${port}/`;
  await answers(child, address, () => readFileSync(logFile, 'utf8'));
  const pid = child.pid ?? 0;
  const endWithUs = () => child.kill('SIGTERM');
  process.once('exit', endWithUs);
  return {
    pid,
    port,
    address,
    directory,
    userDataDirectory,
    extensionsDirectory,
    globalStorage: join(userDataDirectory, 'User', 'globalStorage', 'holdfast.holdfast-chat'),
    extensionHosts: () => extensionHosts(pid).map((host) => host.pid),
    log: () => readFileSync(logFile, 'utf8'),
    onEnded: (listener) => child.once('exit', listener),
    stop: async () => {
      process.removeListener('exit', endWithUs);
      await stopTree(child);
    },
  };
}

/** Our own environment without what an enclosing VS Code terminal put there, and without its extension gallery. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(VSCODE_|ELECTRON_RUN_AS_NODE$)/.test(name));
  return { ...Object.fromEntries(kept), EXTENSIONS_GALLERY: '{}' };
}

export function extensionHosts(serverPid: number): ProcessEntry[] {
  return processTree(serverPid).filter((entry) => entry.command.includes('--type=extensionHost'));
}

async function answers(child: ChildProcess, address: string, log: () => string): Promise<void> {
  await until(
    async () => {
      if (child.exitCode !== null || child.pid === undefined) {
        throw new Error(
          `code-server ended with code ${child.exitCode} before it answered:\n${log().slice(-2000)}`,
        );
      }
      try {
        return (await fetch(`${address}healthz`)).ok;
      } catch (error) {
        // Refused: not listening yet. fetch reports that as a TypeError.
        if (error instanceof TypeError) return false;
        throw error;
      }
    },
    { what: `code-server to answer on ${address}`, timeout: 60_000 },
  );
}

/**
 * The server's parent process ends at once, its children seconds later (an extension host has 5 s to deactivate), so
 * wait for every process that is there now, and only then insist.
 */
async function stopTree(child: ChildProcess): Promise<void> {
  const tree = child.pid === undefined ? [] : processTree(child.pid);
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
  const end = Date.now() + 10_000;
  await until(() => !tree.some(isAlive) || Date.now() > end, { what: 'code-server to end' });
  for (const entry of tree) signalProcess(entry, 'SIGKILL');
}

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
