/** How long a user waits for a long chat: from the moment its page begins to load to the newest message on the screen. */
import type { Browser, Page } from 'playwright-core';
import { setImmediate as sent } from 'node:timers/promises';
import * as v from 'valibot';
import type { ChatModel } from '../../../src/core/models/chatModel.ts';
import { pageMessageSchema } from '../../../src/core/protocol/pageMessages.ts';
import type { RuntimeRegistry } from '../../../src/core/runtime/registry.ts';
import type { Viewer } from '../../../src/core/runtime/viewer.ts';
import { insertMessage } from '../../../src/core/store/messages.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { deliverTo } from '../../support/page/fakeHost.ts';
import { openRegistry } from '../../support/runtimes.ts';
import { closeBrowser, findBrowser, launchBrowser } from '../../support/vscode/browser.ts';
import { single, type BenchContext, type Benchmark } from '../benchmark.ts';
import { median, short } from '../statistics.ts';
import { filesWithoutSync, openStore } from '../stores.ts';
import { Child } from '../child.ts';
import { Conversations, w5 } from '../workloads.ts';

const rounds = 9;
const messagesPerWrite = 50;

export const firstPaint5000: Benchmark = single(
  {
    name: 'first-paint-5000',
    group: 'page',
    what: 'opening a chat of 5,000 messages: from the start of its page in a browser, with the chat not in memory, to its newest message painted',
    unit: 'ms',
    bar: 500,
    direction: 'atMost',
    needsSqlite: false,
  },
  async (context) => {
    if (findBrowser() === undefined) return { value: null, note: 'no Chromium, Chrome or Edge is installed' };
    const { store, id, newest } = await makeChat(context);
    const registry = openRegistry(store, silentModel);
    const server = new Child('serving', [id]);
    const url = await server.ask(v.string(), 'url');
    const browser = await launchBrowser();
    try {
      const times: number[] = [];
      for (let round = -1; round < rounds; round++) {
        const took = await open({ browser, url, registry, id, newest });
        if (round >= 0) times.push(took);
      }
      const note = `the longest of ${rounds} times ${short(Math.max(...times))} ms; a window of 900 × 700, nothing cached`;
      return { value: median(times), note };
    } finally {
      await closeBrowser(browser);
      await server.end();
      await registry.shutDown();
      await store.close();
    }
  },
);

const silentModel: ChatModel = {
  id: 'silent',
  name: 'silent',
  // eslint-disable-next-line require-yield
  async *stream() {
    throw new Error('Nobody asks here.');
  },
};

async function makeChat({
  makeFolder,
  scale,
  say,
}: BenchContext): Promise<{ store: Store; id: string; newest: string }> {
  const count = Math.round(w5.messages * scale);
  say(`Making a chat of ${count} messages`);
  const store = await openStore(makeFolder(), null, { files: filesWithoutSync, followInterval: 0 });
  const conversations = new Conversations(5);
  const session = conversations.chat();
  await store.write((writer) => insertSession(writer, session));
  let newest = '';
  for (let done = 0; done < count; done += messagesPerWrite) {
    const messages = conversations.messages(session.id, messagesPerWrite);
    await store.write((writer) => {
      for (const message of messages) insertMessage(writer, message);
    });
    newest = messages.at(-1)?.id ?? '';
  }
  await store.tidy();
  return { store, id: session.id, newest };
}

/** Runs in the page before anything of it: notes when the message is there and the frame that shows it is over. */
function watchForMessage(messageId: string): void {
  const observer = new MutationObserver(() => {
    if (document.querySelector(`[data-message-id="${messageId}"]`) === null) return;
    observer.disconnect();
    requestAnimationFrame(() => {
      const afterFrame = new MessageChannel();
      afterFrame.port1.onmessage = () => performance.mark('painted');
      afterFrame.port2.postMessage(null);
    });
  });
  observer.observe(document, { childList: true, subtree: true });
}

/** The page in a fresh context, the chat in a fresh runtime. Milliseconds. */
async function open(shown: {
  browser: Browser;
  url: string;
  registry: RuntimeRegistry;
  id: string;
  newest: string;
}): Promise<number> {
  const { browser, url, registry, id, newest } = shown;
  const context = await browser.newContext({ viewport: { width: 900, height: 700 } });
  try {
    const page = await context.newPage();
    const viewer = viewerOf(page);
    await page.exposeFunction('postToFakeHost', async (raw: unknown) => {
      if (v.parse(pageMessageSchema, raw).type === 'ready') registry.attach(await registry.open(id), viewer);
    });
    await page.addInitScript(watchForMessage, newest);
    const loading = page.goto(url);
    await sent();
    await Promise.all([loading, registry.open(id)]); // as a panel does: the chat is read while the page loads
    const painted = await page.waitForFunction(() => performance.getEntriesByName('painted')[0]?.startTime);
    const took = v.parse(v.number(), await painted.jsonValue());
    await registry.detach(await registry.open(id), viewer, 'disposed');
    return took;
  } finally {
    await context.close();
  }
}

function viewerOf(page: Page): Viewer {
  return {
    isPanel: true,
    isVisible: () => true,
    reclaimed: () => undefined,
    receive: (message) => void deliverTo(page, [message]),
  };
}
