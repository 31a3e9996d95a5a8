import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { runQuietly } from '../../../scripts/lib/commands.mjs';
import { projectRoot } from './paths.ts';
import { cleanEnvironment } from './server.ts';
import { ensureVscodeWeb } from './webInstall.ts';

/** Packages the extension as it would be published and gives the path of the .vsix. Builds nothing itself. */
export async function packageExtension(file: string, root = projectRoot): Promise<string> {
  const vsce = join(projectRoot, 'node_modules', '@vscode', 'vsce', 'vsce');
  const options = ['--no-dependencies', '--allow-missing-repository', '--no-update-package-json'];
  mkdirSync(dirname(file), { recursive: true });
  const { code, output } = await runQuietly(process.execPath, [vsce, 'package', ...options, '--out', file], {
    cwd: root,
  });
  if (code !== 0 || !existsSync(file)) {
    throw new Error(`vsce could not package the extension (code ${code}):\n${output}`);
  }
  return file;
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
