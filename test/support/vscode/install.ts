import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { runQuietly } from '../../../scripts/lib/commands.mjs';
import { projectRoot } from './paths.ts';
import { cleanEnvironment } from './server.ts';
import { ensureVscodeWeb } from './webInstall.ts';

/** Packages the built extension as it would be published, and gives the path of the .vsix. Builds nothing itself. */
export async function packageExtension(file: string): Promise<string> {
  const stage = mkdtempSync(join(tmpdir(), 'holdfast-package-'));
  mkdirSync(dirname(file), { recursive: true });
  try {
    stageFiles(stage);
    await packageFolder(stage, file);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
  return file;
}

/** Packages the folder of an extension that needs no building. */
export async function packageFolder(folder: string, file: string): Promise<void> {
  const vsce = join(projectRoot, 'node_modules', '@vscode', 'vsce', 'vsce');
  const options = ['--no-dependencies', '--no-rewrite-relative-links', '--allow-missing-repository'];
  const words = [vsce, 'package', ...options, '--out', resolve(file)];
  const { code, output } = await runQuietly(process.execPath, words, { cwd: folder });
  if (code !== 0 || !existsSync(file)) {
    throw new Error(`vsce could not package ${folder} (code ${code}):\n${output}`);
  }
}

/**
 * Copies what .vscodeignore lets in ("!dist/**"). vsce lists the whole folder before it leaves anything out, which
 * takes a quarter of a minute with the browser-hosted VS Code below test/.
 */
function stageFiles(stage: string): void {
  const ignoreFile = join(projectRoot, '.vscodeignore');
  const admitted = readFileSync(ignoreFile, 'utf8')
    .split(/\r?\n/)
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1).split('/')[0] ?? '');
  for (const name of ['.vscodeignore', ...admitted]) {
    const source = join(projectRoot, name);
    if (name !== '' && existsSync(source)) cpSync(source, join(stage, name), { recursive: true });
  }
}

/**
 * Installs a .vsix into an extensions folder with VS Code's own installer, before a server starts on it. The extension
 * then runs as it does for a user: in production mode, restarted when its host dies.
 */
export async function installVsix(vsix: string, extensionsDirectory: string): Promise<void> {
  const vscode = await ensureVscodeWeb();
  const scratch = mkdtempSync(join(tmpdir(), 'holdfast-install-'));
  mkdirSync(extensionsDirectory, { recursive: true });
  try {
    const { code, output } = await runQuietly(
      vscode.node,
      [
        vscode.entry,
        ...['--config', '/dev/null', '--user-data-dir', scratch, '--extensions-dir', extensionsDirectory],
        ...['--install-extension', vsix, '--force'],
      ],
      { env: cleanEnvironment() },
    );
    if (code !== 0) throw new Error(`VS Code could not install ${vsix} (code ${code}):\n${output}`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

let template: Promise<string> | undefined;

/**
 * Fills the extensions folder of a server that is about to start. The extension is packaged and installed once per
 * process (`HOLDFAST_VSIX` names a ready .vsix) and copied from then on, which takes milliseconds instead of a second.
 */
export async function installExtension(extensionsDirectory: string): Promise<void> {
  template ??= installOnce();
  cpSync(await template, extensionsDirectory, { recursive: true });
}

async function installOnce(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-extension-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const given = process.env['HOLDFAST_VSIX'];
  const vsix =
    given === undefined || given === ''
      ? await packageExtension(join(directory, 'holdfast.vsix'))
      : resolve(given);
  const extensions = join(directory, 'extensions');
  await installVsix(vsix, extensions);
  return extensions;
}
