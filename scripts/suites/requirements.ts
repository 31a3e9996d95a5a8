import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findBrowser } from '../../test/support/vscode/browser.ts';
import { findDesktopEditor, hasDisplay } from '../../test/support/vscode/desktop.ts';
import { ensureVscodeWeb, vscodeWebUnsupported } from '../../test/support/vscode/webInstall.ts';
import { run } from '../lib/commands.mjs';
import { step } from '../lib/step.mjs';

/** A reason to skip, or undefined when everything needed is there (installed first where that is ours to do). */
export type Requirement = () => Promise<string | undefined>;

export const nothing: Requirement = async () => undefined;

/** System packages are installed only by root on a CI machine; anybody else is told the command. */
export const browser: Requirement = async () => {
  if (findBrowser() !== undefined) return undefined;
  if (process.env['CI'] !== undefined && process.getuid?.() === 0 && onPath('apt-get')) {
    await step(
      'No browser found; as root with CI set: apt-get update && apt-get install -y chromium',
      async () => {
        const updated = await run('apt-get', ['update', '-qq']);
        return updated === 0 && (await run('apt-get', ['install', '-y', '-qq', 'chromium']));
      },
    );
    if (findBrowser() !== undefined) return undefined;
  }
  return `no Chromium, Chrome or Edge was found (HOLDFAST_BROWSER names one elsewhere). To install one: ${installCommand()}`;
};

export const browserHostedVscode: Requirement = async () => {
  const unsupported = vscodeWebUnsupported();
  if (unsupported !== undefined) return unsupported;
  const missing = await browser();
  if (missing === undefined) await ensureVscodeWeb();
  return missing;
};

/** A desktop VS Code that can show a window, or else what the stand-in needs. */
export const anyVscode: Requirement = async () => {
  if (hasDisplay() && findDesktopEditor() !== undefined) return undefined;
  const missing = await browserHostedVscode();
  return missing === undefined ? undefined : `no desktop VS Code was found, and ${missing}`;
};

function installCommand(): string {
  if (process.platform === 'darwin') return 'brew install --cask google-chrome';
  if (process.platform === 'win32') return 'winget install --exact --id Google.Chrome';
  const sudo = process.getuid?.() === 0 ? '' : 'sudo ';
  if (onPath('apt-get')) return `${sudo}apt-get update && ${sudo}apt-get install -y chromium`;
  if (onPath('dnf')) return `${sudo}dnf install -y chromium`;
  if (onPath('pacman')) return `${sudo}pacman -S --noconfirm chromium`;
  if (onPath('zypper')) return `${sudo}zypper --non-interactive install chromium`;
  return 'https://www.google.com/chrome';
}

function onPath(program: string): boolean {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.some((folder) => folder !== '' && existsSync(join(folder, program)));
}
