import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { format } from 'node:util';
import type { Page } from 'playwright-core';
import { closeBrowser, launchBrowser } from './browser.ts';
import { startServer } from './server.ts';
import { openWindow } from './window.ts';
import { scratchDirectory } from './workspace.ts';

/** The exit code of a run that did not end in time, as of the `timeout` program. */
const timedOut = 124;

/**
 * Stands in for the desktop `code` program where there is none: takes the command line that @vscode/test-electron
 * gives it, opens the browser-hosted VS Code with the same extension and the same test module in its extension host,
 * and resolves to the code a desktop VS Code would exit with.
 */
export async function standIn(commandLine: readonly string[]): Promise<number> {
  const value = (name: string) =>
    commandLine.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3);
  const developmentPath = value('extensionDevelopmentPath');
  const testsPath = value('extensionTestsPath');
  if (developmentPath === undefined || testsPath === undefined) {
    console.error('The stand-in for VS Code needs --extensionDevelopmentPath= and --extensionTestsPath=');
    return 2;
  }
  const folder = commandLine.find((argument) => !argument.startsWith('-') && existsSync(argument));
  const userDataDirectory = value('user-data-dir');
  const extensionsDirectory = value('extensions-dir');
  const scratch = scratchDirectory('holdfast-stand-in-');
  const server = await startServer({
    directory: scratch.path,
    smokeTestDriver: true,
    ...(userDataDirectory === undefined ? {} : { userDataDirectory: resolve(userDataDirectory) }),
    ...(extensionsDirectory === undefined ? {} : { extensionsDirectory: resolve(extensionsDirectory) }),
  });
  try {
    const browser = await launchBrowser();
    try {
      const context = await browser.newContext();
      let exited: (code: number) => void = () => undefined;
      const exit = new Promise<number>((resolveExit) => (exited = resolveExit));
      await openWindow(context, server, {
        ...(folder === undefined ? {} : { folder: resolve(folder) }),
        developmentPath: resolve(developmentPath),
        testsPath: resolve(testsPath),
        prepare: (page) => connect(page, (code) => exited(code)),
      });
      return await Promise.race([exit, timeout()]);
    } finally {
      await closeBrowser(browser);
    }
  } finally {
    await server.stop();
    rmSync(scratch.path, { recursive: true, force: true });
  }
}

/** What the browser-hosted workbench says about itself in every run; `HOLDFAST_VERBOSE=1` shows it too. */
const noise = [
  /\/static\/out\/vs\/code\/browser\/workbench\/workbench\.js/,
  /^Error: Could not locate the bindings file/,
  /^(Error: )?Cannot find module '\.\/build\/Release\/watchdog'/,
  /^Creating a socket \(renderer-/,
  /^Creation of workbench contribution/,
  /^Resolv(ing|ed) connection token/,
  /^(Ignoring fetching|Updating) additional builtin extensions/,
  /^\[(reconnection-grace-time|Service Worker|AgentHost:remote|AccountPolicyGate|lifecycle)\]/,
];

/** The workbench calls these two when a test module was asked for; on the desktop they are the program's own. */
async function connect(page: Page, exited: (code: number) => void): Promise<void> {
  const verbose = process.env['HOLDFAST_VERBOSE'] === '1';
  let over = false;
  await page.exposeFunction('codeAutomationExit', (code: number) => {
    // What follows is the workbench complaining that it is being closed.
    over = !verbose;
    exited(code);
  });
  await page.exposeFunction('codeAutomationLog', (_type: string, values: readonly unknown[]) => {
    const line = format(...values);
    if (verbose || !(over || noise.some((pattern) => pattern.test(line)))) console.log(line);
  });
  page.on('crash', () => {
    console.error('The page of the stand-in for VS Code crashed');
    exited(1);
  });
}

/** `HOLDFAST_TEST_TIMEOUT` in milliseconds; two minutes otherwise. */
function timeout(): Promise<number> {
  const milliseconds = Number(process.env['HOLDFAST_TEST_TIMEOUT'] ?? 120_000);
  return new Promise((resolveTimeout) => {
    const timer = setTimeout(() => {
      console.error(`The tests in the extension host did not end within ${milliseconds / 1000} s`);
      resolveTimeout(timedOut);
    }, milliseconds);
    timer.unref();
  });
}
