import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { PanelPage } from '../support/page/panelPage.ts';
import { samples } from '../support/page/samples.ts';
import { themeNames } from '../support/page/themes.ts';
import { pageSuite } from '../support/page/suite.ts';

/**
 * Every rule of axe in the first theme, the best practices included (only the order of headings in an answer is the model's
 * own); in the others, which differ by their colours alone, the rules about colours.
 */
async function findsNone(panel: PanelPage): Promise<void> {
  await panel.page.evaluate(axe.source);
  for (const [index, theme] of themeNames.entries()) {
    await panel.wearTheme(theme);
    const violations = await panel.page.evaluate(
      async (options) => {
        const results = await window.axe.run(options);
        return results.violations.map(({ id, nodes }) => ({
          rule: id,
          nodes: nodes.map((node) => `${node.html} ${node.failureSummary ?? ''}`),
        }));
      },
      index === 0 ? everyRule : colourRules,
    );
    assert.deepEqual(violations, [], theme);
  }
}

const everyRule: axe.RunOptions = { rules: { 'heading-order': { enabled: false } } };
const colourRules: axe.RunOptions = {
  runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
};

declare global {
  interface Window {
    readonly axe: typeof axe;
  }
}

describe('Accessibility', () => {
  const suite = pageSuite();

  for (const [name, options] of Object.entries(samples)) {
    it(`finds no violation: ${name}`, async () => {
      const panel = await suite.open(options);
      await panel.page.locator('.welcome, .turn, .chooser').first().waitFor();
      for (const summary of await panel.page.locator('summary').all()) await summary.click();
      await findsNone(panel);
    });
  }

  it('finds no violation: the open list of models', async () => {
    const panel = await suite.open(samples['answer']);
    await panel.button('Model: Offline guide').click();
    await panel.page.getByRole('listbox').waitFor();
    await panel.page.keyboard.press('ArrowDown');
    await findsNone(panel);
  });

  it('finds no violation: the commands, and the menu of the chat', async () => {
    const panel = await suite.open(samples['answer']);
    await panel.message.pressSequentially('/');
    await panel.page.getByRole('listbox', { name: 'Commands' }).waitFor();
    await findsNone(panel);
    await panel.button('More Actions').click();
    await panel.page.getByRole('menu').waitFor();
    await findsNone(panel);
  });

  it('finds no violation: a chat that cannot be shown, a dead host, a notice', async () => {
    const panel = await suite.open({ ...samples['answer'], prepare: ({ page }) => page.clock.install() });
    await panel.page.locator('.turn').first().waitFor();
    const problem = { reason: 'not_writable', message: 'The folder cannot be written to.' };
    await panel.host.deliver({ type: 'notice', message: 'A notice.' }, { type: 'unavailable', problem });
    await panel.notice('The folder').waitFor();
    panel.host.answersPings = false;
    await panel.page.clock.runFor(10_000);
    await panel.notice('Holdfast is starting again').waitFor();
    await findsNone(panel);
  });

  it('reaches everything by keyboard, in the order of the page', async () => {
    const panel = await suite.open(samples['interrupted']);
    await panel.button('Continue').waitFor();
    const seen = new Set<string>();
    for (let step = 0; step < 60; step += 1) {
      await panel.page.keyboard.press('Tab');
      seen.add(
        await panel.page.evaluate(() => {
          const element = document.activeElement;
          return element?.getAttribute('aria-label') ?? element?.textContent?.trim() ?? '';
        }),
      );
    }
    const wanted = [
      'Conversation',
      'Continue',
      'Retry',
      'Message',
      'Model: Offline guide',
      'Copy',
      'Archive',
      'More Actions',
    ];
    assert.deepEqual(
      wanted.filter((name) => !seen.has(name)),
      [],
    );
  });

  it('keeps still when the user asked for less motion', async () => {
    const panel = await suite.open({
      ...samples['streaming'],
      prepare: ({ page }) => page.emulateMedia({ reducedMotion: 'reduce' }),
    });
    await panel.page.locator('.codicon.spin').first().waitFor();
    const animation = await panel.page
      .locator('.codicon.spin')
      .first()
      .evaluate((element) => getComputedStyle(element).animationName);
    assert.equal(animation, 'none');
  });
});
