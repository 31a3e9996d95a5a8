import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { closeBrowser, launchBrowser } from '../test/support/vscode/browser.ts';
import { openChat } from '../test/support/vscode/chatPanel.ts';
import { installExtension } from '../test/support/vscode/install.ts';
import { projectRoot } from '../test/support/vscode/paths.ts';
import { type Settings } from '../test/support/vscode/settings.ts';
import { startServer } from '../test/support/vscode/server.ts';
import { type ColourTheme, type VscodeWindow, openWindow } from '../test/support/vscode/window.ts';
import { copySampleWorkspace, scratchDirectory } from '../test/support/vscode/workspace.ts';

const folder = join(projectRoot, 'shots');

const light: ColourTheme = 'Default Light Modern';
const dark: ColourTheme = 'Default Dark Modern';

/** The last word of the file's name for each theme. */
const suffix: Readonly<Record<ColourTheme, string>> = {
  'Default Light Modern': 'light',
  'Default Dark Modern': 'dark',
  'Default High Contrast': 'high-contrast',
  'Default High Contrast Light': 'high-contrast-light',
};

/**
 * Takes shots/NAME-THEME.png: a fresh VS Code with the built extension, in that theme from the start, brought into the
 * wanted state by `prepare`.
 */
export async function shot(
  name: string,
  theme: ColourTheme,
  prepare: (window: VscodeWindow) => Promise<void>,
  settings: Settings = {},
): Promise<void> {
  const scratch = scratchDirectory('holdfast-shot-');
  await installExtension(join(scratch.path, 'extensions'));
  const server = await startServer({
    directory: scratch.path,
    settings: { 'workbench.colorTheme': theme, ...settings },
  });
  try {
    const browser = await launchBrowser();
    try {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      const window = await openWindow(context, server, { folder: copySampleWorkspace(scratch.path) });
      await prepare(window);
      const file = join(folder, `${name}-${suffix[theme]}.png`);
      await window.page.screenshot({ path: file, animations: 'disabled', caret: 'hide' });
      console.log(`shots/${name}-${suffix[theme]}.png`);
    } finally {
      await closeBrowser(browser);
    }
  } finally {
    await server.stop();
    scratch.remove();
  }
}

/** The main states; `npm run shots -- NAME` takes only those whose name holds NAME. */
const states: Readonly<Record<string, (window: VscodeWindow) => Promise<void>>> = {
  'empty-panel': async (window) => {
    await openChat(window);
  },
};

export async function takeShots(wanted: string | undefined): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [name, prepare] of Object.entries(states)) {
    if (wanted !== undefined && !name.includes(wanted)) continue;
    for (const theme of [light, dark]) await shot(name, theme, prepare);
  }
}
