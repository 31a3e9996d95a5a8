/** The panel as a user finds it: by role and name. */
import type { Browser, Locator, Page } from 'playwright-core';
import { FakeHost, type FakeHostOptions } from './fakeHost.ts';
import { testSessionId } from './builders.ts';
import type { PageServer } from './pageServer.ts';
import { bodyClass, type ThemeName } from './themes.ts';

export interface OpenOptions extends FakeHostOptions {
  readonly theme?: ThemeName;
  readonly sessionId?: string;
  readonly panelId?: string;
  /** Opens in the same browser as this panel, hence with the same storage. */
  readonly beside?: PanelPage;
  /** Set up before the page loads. */
  readonly prepare?: (panel: PanelPage) => unknown;
  readonly width?: number;
  readonly height?: number;
}

export class PanelPage {
  readonly page: Page;
  readonly host: FakeHost;
  readonly message: Locator;
  readonly send: Locator;
  readonly stop: Locator;
  readonly log: Locator;
  readonly scroller: Locator;
  readonly errors: string[] = [];

  constructor(page: Page, host: FakeHost) {
    this.page = page;
    this.host = host;
    this.message = page.getByRole('textbox', { name: 'Message' });
    this.send = page.getByRole('button', { name: 'Send', exact: true });
    this.stop = page.getByRole('button', { name: 'Stop', exact: true });
    this.log = page.getByRole('log', { name: 'Conversation' });
    this.scroller = this.log;
    page.on('pageerror', (error) => this.errors.push(error.message));
  }

  button(name: string): Locator {
    return this.page.getByRole('button', { name, exact: true });
  }

  article(id: string): Locator {
    return this.page.locator(`[data-message-id="${id}"]`);
  }

  notice(text: string | RegExp): Locator {
    return this.page.getByRole('status').filter({ hasText: text });
  }

  scrollTop(): Promise<number> {
    return this.scroller.evaluate((element) => element.scrollTop);
  }

  distanceToEnd(): Promise<number> {
    return this.scroller.evaluate((element) =>
      Math.round(element.scrollHeight - element.clientHeight - element.scrollTop),
    );
  }

  /** Switches in the open page, as the editor does when the user chooses another theme. */
  async wearTheme(theme: ThemeName): Promise<void> {
    const [file, name] = [`/theme.css?theme=${theme}`, bodyClass(theme)];
    await this.page.evaluate(
      ([href, className]) =>
        new Promise<void>((resolve, reject) => {
          const link = document.querySelector<HTMLLinkElement>('link[href^="/theme.css"]');
          if (link === null) return reject(new Error('the page has no theme'));
          document.body.className = className;
          if (link.getAttribute('href') === href) return resolve();
          link.onload = () => resolve();
          link.href = href;
        }),
      [file, name] as const,
    );
  }

  /** Waits until the browser has laid out and painted what it knows by now. */
  async settle(): Promise<void> {
    await this.page.evaluate(
      () =>
        new Promise<void>((resolve) =>
          requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))),
        ),
    );
  }
}

/** Opens a panel in a fresh context; closing the context is the caller's. */
export async function openPanel(
  browser: Browser,
  server: PageServer,
  options: OpenOptions = {},
): Promise<PanelPage> {
  const { width = 900, height = 700, theme = 'dark' } = options;
  const { sessionId = testSessionId, panelId = 'panel-1' } = options;
  const context =
    options.beside?.page.context() ?? (await browser.newContext({ viewport: { width, height } }));
  const page = await context.newPage();
  const host = new FakeHost(options);
  await host.attach(page);
  const panel = new PanelPage(page, host);
  await options.prepare?.(panel);
  await page.goto(server.url({ theme, panelId, sessionId }));
  return panel;
}
