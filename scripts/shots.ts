import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { closeBrowser, launchBrowser } from '../test/support/vscode/browser.ts';
import { type ModelServer, startModelServer } from '../test/support/modelServer.ts';
import { chatPanel, openChat } from '../test/support/vscode/chatPanel.ts';
import { installExtension } from '../test/support/vscode/install.ts';
import { projectRoot } from '../test/support/vscode/paths.ts';
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

/** One VS Code with the built extension in which states are prepared one after the other. */
interface Scene {
  readonly window: VscodeWindow;
  readonly models: ModelServer;
}

/** The main states, in an order in which each can follow the one before; each shows what is in front when it resolves. */
const states: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  'empty-panel': async ({ window }) => {
    const panel = await openChat(window);
    // Settings may reach a starting window late.
    await panel.modelPicker.filter({ hasText: 'test-model' }).waitFor();
  },
  'answer-with-code-and-tools': async ({ window, models }) => {
    const panel = chatPanel(window);
    await panel.send('Where is the rental price calculated, and how do I call it?');
    const first = await models.waitForRequest();
    await first.send('I look where prices are calculated.');
    const query = JSON.stringify({ query: 'price', mode: 'words' });
    await first.sendToolCall({ id: 'call-1', name: 'search_text', arguments: query });
    await first.finish({ reason: 'tool_calls' });
    const second = await models.waitForRequest();
    await second.send(answer);
    await second.finish({ usage: { inputTokens: 812, outputTokens: 164 } });
    await panel.answerContains('whole days');
    await panel.status('Assistant', ['complete']);
  },
  streaming: async ({ window, models }) => {
    const panel = chatPanel(window);
    await panel.send('And what about late returns?');
    const request = await models.waitForRequest();
    await request.send('A late return costs **half a day** for each started hour, up to');
    await panel.answerContains('started hour');
  },
  'error-with-retry': async ({ window, models }) => {
    const panel = chatPanel(window);
    await panel.button('Stop').click();
    await panel.status('Assistant', ['interrupted']);
    await panel.send('Try once more');
    (await models.waitForRequest()).fail(503, { error: { message: 'The model is overloaded' } });
    await panel.button('Retry').waitFor();
  },
  'archived-chat-and-list': async ({ window }) => {
    await openChat(window);
    await chatPanel(window).type('A draft that is kept');
    await window.runCommand('View: Show Holdfast');
    await window.runCommand('Holdfast: Open Last Chat');
    await window.editorTabs().filter({ hasText: 'Where is the rental' }).click();
    await window.runCommand('Holdfast: Archive Chat');
    await chatPanel(window).button('Reopen').waitFor();
    await window.page.getByRole('treeitem', { name: /^Archived/ }).click();
    await window.page.getByRole('treeitem', { name: /Where is the rental/ }).waitFor();
  },
  'offline-guide': async ({ window }) => {
    const panel = await openChat(window);
    await panel.modelPicker.click();
    await panel.frame.getByRole('option', { name: /Offline guide/ }).click();
    await panel.send('Where is the rental price calculated?');
    await panel.status('Assistant', ['complete'], 60_000);
  },
};

const answer = [
  'The price is calculated in [src/pricing.ts:12](src/pricing.ts:12). Call it with the bicycle and the hours:',
  '',
  '```ts',
  "import { calculateRentalPrice } from './pricing';",
  '',
  'const price = calculateRentalPrice(bicycle, 5);',
  'console.log(`${price.total} ${price.currency}`);',
  '```',
  '',
  '| hours | charged as |',
  '| --- | --- |',
  '| up to 4 | half a day |',
  '| more | whole days |',
  '',
].join('\n');

/** Takes shots/NAME-THEME.png of every state, or of those up to the one whose name holds `wanted`, in one theme. */
async function shotsIn(theme: ColourTheme, wanted: string | undefined): Promise<void> {
  const scratch = scratchDirectory('holdfast-shot-');
  await installExtension(join(scratch.path, 'extensions'));
  const models = await startModelServer();
  const providers = [{ name: 'Test', baseUrl: models.baseUrl, models: ['test-model'] }];
  const server = await startServer({
    directory: scratch.path,
    // By its newer name: the older one makes this VS Code rewrite its settings file while it reads it.
    settings: { 'workbench.colorTheme': theme.replace(/^Default /, ''), 'holdfast.providers': providers },
  });
  try {
    const browser = await launchBrowser();
    try {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
      const window = await openWindow(context, server, { folder: copySampleWorkspace(scratch.path) });
      for (const [name, prepare] of Object.entries(states)) {
        try {
          await prepare({ window, models });
        } catch (error) {
          await window.page.screenshot({ path: join(folder, `failed-${name}.png`) });
          throw error;
        }
        if (wanted !== undefined && !name.includes(wanted)) continue;
        const file = join(folder, `${name}-${suffix[theme]}.png`);
        await window.page.screenshot({ path: file, animations: 'disabled', caret: 'hide' });
        console.log(`shots/${name}-${suffix[theme]}.png`);
        if (wanted !== undefined) break;
      }
    } finally {
      await closeBrowser(browser);
    }
  } finally {
    await server.stop();
    await models.close();
    scratch.remove();
  }
}

/** `npm run shots -- NAME` takes only the first state whose name holds NAME. */
export async function takeShots(wanted: string | undefined): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const theme of [light, dark]) await shotsIn(theme, wanted);
}
