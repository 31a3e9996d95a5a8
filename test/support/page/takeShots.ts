/** Pictures of the page in its main states, to be looked at: `npx tsx test/support/page/takeShots.ts FOLDER [STATE…]`. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { closeBrowser, launchBrowser } from '../vscode/browser.ts';
import { PageServer } from './pageServer.ts';
import { openPanel } from './panelPage.ts';
import { samples } from './samples.ts';

const pictures = {
  ...samples,
  commands: samples['answer'],
  menu: samples['answer'],
  edit: samples['branches'],
};

async function takeShots(folder: string, wanted: readonly string[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const server = await PageServer.start();
  const browser = await launchBrowser();
  for (const theme of ['dark', 'light', 'highContrast'] as const) {
    for (const [name, options] of Object.entries(pictures)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      const panel = await openPanel(browser, server, { ...options, theme, width: 760, height: 900 });
      await panel.page.locator('.welcome, .turn, .chooser').first().waitFor();
      if (name === 'commands') await panel.message.pressSequentially('/');
      if (name === 'menu') await panel.button('More Actions').click();
      if (name === 'branches') await panel.article('p2').hover();
      if (name === 'edit') await panel.article('p2').getByRole('button', { name: 'Edit' }).click();
      await panel.settle();
      await panel.page.screenshot({ path: join(folder, `${name}-${theme}.png`) });
      await panel.page.context().close();
    }
  }
  await closeBrowser(browser);
  await server.stop();
}

const [folder = 'shots', ...wanted] = process.argv.slice(2);
void takeShots(folder, wanted);
