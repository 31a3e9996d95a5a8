import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { hasDisplay } from '../../test/support/vscode/desktop.ts';
import { installVsix, packageExtension } from '../../test/support/vscode/install.ts';
import { type Server, startServer } from '../../test/support/vscode/server.ts';
import { settingsFile } from '../../test/support/vscode/settings.ts';
import { ensureVscodeWeb } from '../../test/support/vscode/webInstall.ts';
import { step } from '../lib/step.mjs';
import { type OpenRequest, firstSettings, profileDirectory } from './request.ts';

const usualPort = 8484;

/** Holds the process id and the address of the one server that uses the profile. */
const runningFile = 'running';

/**
 * Serves VS Code on 127.0.0.1 with the extension installed as a user would have it, and resolves when it was stopped
 * with Ctrl+C.
 */
export async function openInBrowser(request: OpenRequest): Promise<number> {
  const directory = profileDirectory('web');
  const running = runningAddress(directory);
  if (running !== undefined) {
    console.log(`It runs already: ${addressOf(running, request.folder)}`);
    console.log('Stop that one with Ctrl+C in its terminal first to load a newly built extension.');
    return 0;
  }
  if (request.port !== undefined && !(await isFree(request.port))) {
    console.error(`Port ${request.port} of 127.0.0.1 is taken; choose another with --port`);
    return 2;
  }
  await ensureVscodeWeb();
  await step('Packaging and installing the extension', () => install(directory));
  const server = await step('Starting VS Code for the browser', () => start(directory, request));
  writeFileSync(join(directory, runningFile), `${process.pid}\n${server.address}\n`);
  const address = addressOf(server.address, request.folder);
  console.log(`\nVS Code with Holdfast: ${address}\n`);
  console.log(
    `Its profile with all chats is ${directory}; open tabs and keys are in your browser, for this address.`,
  );
  console.log('Ctrl+C stops it.');
  if (hasDisplay()) showAddress(address);
  const code = await stopped(server);
  rmSync(join(directory, runningFile), { force: true });
  return code;
}

function addressOf(server: string, folder: string): string {
  return `${server}?folder=${encodeURI(folder).replace(/[&#?+]/g, encodeURIComponent)}`;
}

/** The address of a server that another `npm start` runs on this profile: two would write into each other's files. */
function runningAddress(directory: string): string | undefined {
  const file = join(directory, runningFile);
  if (!existsSync(file)) return undefined;
  const [pid, address] = readFileSync(file, 'utf8').split('\n');
  const command = `/proc/${pid ?? ''}/cmdline`;
  return existsSync(command) && readFileSync(command, 'utf8').includes('start.mjs') ? address : undefined;
}

async function install(directory: string): Promise<void> {
  const extensions = join(directory, 'extensions');
  // From scratch: an installed build of the same version would not be replaced as a whole.
  rmSync(extensions, { recursive: true, force: true });
  await installVsix(await packageExtension(join(directory, '..', 'holdfast-chat.vsix')), extensions);
}

async function start(directory: string, request: OpenRequest): Promise<Server> {
  const port = request.port ?? ((await isFree(usualPort)) ? usualPort : undefined);
  const isFirstStart = !existsSync(settingsFile(join(directory, 'user-data')));
  return startServer({
    directory,
    ...(port === undefined ? {} : { port }),
    ...(isFirstStart ? { settings: { ...firstSettings } } : {}),
    // A laptop that slept an hour must find its windows again.
    reconnectionGraceTime: 3 * 60 * 60,
    ownProcessGroup: true,
    arguments: request.isSample ? ['--disable-workspace-trust'] : [],
  });
}

/** Only tells the desktop to show the page; without a browser the printed address is enough. */
function showAddress(address: string): void {
  const opener = spawn('xdg-open', [address], { stdio: 'ignore', detached: true });
  opener.once('error', () =>
    console.log('(No browser could be opened from here; open the address yourself.)'),
  );
  opener.unref();
}

async function stopped(server: Server): Promise<number> {
  const reason = await new Promise<'asked' | 'ended'>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => resolve('asked'));
    server.onEnded(() => resolve('ended'));
  });
  if (reason === 'ended')
    console.error(`VS Code ended by itself; its last words:\n${server.log().slice(-2000)}`);
  else console.log('\nStopping VS Code …');
  await server.stop();
  return reason === 'ended' ? 1 : 0;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
