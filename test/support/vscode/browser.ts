import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Names of Chromium's family on the PATH, the plainest first. */
const programs = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'microsoft-edge',
  'microsoft-edge-stable',
];

const macApplications = ['Google Chrome', 'Chromium', 'Microsoft Edge'];

const windowsPrograms = [
  ['Google', 'Chrome', 'Application', 'chrome.exe'],
  ['Chromium', 'Application', 'chrome.exe'],
  ['Microsoft', 'Edge', 'Application', 'msedge.exe'],
];

/** The path of an installed Chromium, Chrome or Edge. `HOLDFAST_BROWSER` overrides the search. */
export function findBrowser(): string | undefined {
  const chosen = process.env['HOLDFAST_BROWSER'];
  if (chosen !== undefined && chosen !== '') {
    if (existsSync(chosen)) return chosen;
    throw new Error(`HOLDFAST_BROWSER names a file that does not exist: ${chosen}`);
  }
  return candidates().find((path) => existsSync(path));
}

function candidates(): string[] {
  const environment = process.env;
  if (process.platform === 'win32') {
    const roots = ['ProgramFiles', 'ProgramFiles(x86)', 'LOCALAPPDATA']
      .map((name) => environment[name])
      .filter((root) => root !== undefined);
    return windowsPrograms.flatMap((parts) => roots.map((root) => join(root, ...parts)));
  }
  if (process.platform === 'darwin') {
    const roots = ['/Applications', join(environment['HOME'] ?? '', 'Applications')];
    return macApplications.flatMap((name) =>
      roots.map((root) => join(root, `${name}.app`, 'Contents', 'MacOS', name)),
    );
  }
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return programs.flatMap((name) => folders.map((folder) => join(folder, name)));
}

/** Without a window, unless `HOLDFAST_HEADED=1` asks to watch. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = findBrowser();
  if (executablePath === undefined) {
    throw new Error('No Chromium, Chrome or Edge was found; install one, or name it with HOLDFAST_BROWSER');
  }
  return chromium.launch({
    executablePath,
    headless: process.env['HOLDFAST_HEADED'] !== '1',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/**
 * Closes the pages before the browser: closing the browser alone sends no unload, and every extension host would sit
 * out its reconnection grace time.
 */
export async function closeBrowser(browser: Browser): Promise<void> {
  for (const context of browser.contexts()) await context.close();
  await browser.close();
}
