import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { downloadAndUnzipVSCode } from '@vscode/test-electron';
import type { DesktopEditor } from '../../test/support/vscode/desktop.ts';
import { projectRoot } from '../../test/support/vscode/paths.ts';
import { cleanEnvironment } from '../../test/support/vscode/server.ts';
import { settingsFile, writeSettings } from '../../test/support/vscode/settings.ts';
import { step } from '../lib/step.mjs';
import { type OpenRequest, firstSettings, profileDirectory } from './request.ts';

/** Fetches a desktop VS Code into .vscode-test, or takes the one fetched before; undefined without a network. */
export async function downloadDesktopEditor(): Promise<DesktopEditor | undefined> {
  try {
    const program = await step(
      'No desktop VS Code is installed: downloading one into .vscode-test (about 0.2 GB)',
      () => downloadAndUnzipVSCode({ cachePath: join(projectRoot, '.vscode-test'), version: 'stable' }),
    );
    return { name: 'the downloaded VS Code', program };
  } catch (error) {
    console.log(`It could not be downloaded: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** Opens the window with a profile of its own, and waits until it is closed. */
export async function openDesktop(editor: DesktopEditor, { folder, isSample }: OpenRequest): Promise<number> {
  const directory = profileDirectory('desktop');
  const userData = join(directory, 'user-data');
  mkdirSync(directory, { recursive: true });
  if (!existsSync(settingsFile(userData))) writeSettings(userData, firstSettings);
  const logFile = join(directory, 'vscode.log');
  const log = openSync(logFile, 'w');
  const rootOnLinux = process.platform === 'linux' && process.getuid?.() === 0;
  console.log(`Opening ${editor.program} on ${folder}; this command ends when its last window is closed.`);
  console.log(`Its profile is ${directory}; delete that folder to start afresh.`);
  const child = spawn(
    editor.program,
    [
      folder,
      '--new-window',
      `--extensionDevelopmentPath=${projectRoot}`,
      ...[`--user-data-dir=${userData}`, `--extensions-dir=${join(directory, 'extensions')}`],
      ...['--skip-welcome', '--skip-release-notes', '--disable-updates'],
      ...(isSample ? ['--disable-workspace-trust'] : []),
      ...(rootOnLinux ? ['--no-sandbox'] : []),
    ],
    { stdio: ['ignore', log, log], env: cleanEnvironment() },
  );
  return new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(`It could not be started: ${error.message}`);
      resolve(1);
    });
    child.once('exit', (code) => {
      if (code !== 0 && code !== null)
        console.error(`VS Code ended with code ${code}; what it said is in ${logFile}`);
      resolve(code ?? 0);
    });
  });
}
