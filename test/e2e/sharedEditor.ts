/** One editor for all tests, because one takes half a minute to start and to stop; mocha loads this file first. */
import { join } from 'node:path';
import type { RootHookObject } from 'mocha';
import { projectRoot } from '../support/vscode/paths.ts';
import { Editor } from './editor.ts';

let shared: Promise<Editor> | undefined;

/** Asked for before each test: a failed one leaves an editor in an unknown state, and the next gets a new one. */
export function sharedEditor(): Promise<Editor> {
  shared ??= Editor.start();
  return shared;
}

async function stopShared(): Promise<void> {
  const editor = await shared;
  shared = undefined;
  await editor?.stop();
}

export const mochaHooks: RootHookObject = {
  async afterEach(this: Mocha.Context) {
    const test = this.currentTest;
    if (test?.state !== 'failed') return;
    const name = test
      .fullTitle()
      .replaceAll(/[^a-z0-9]+/gi, '-')
      .slice(0, 80);
    for (const [index, { page }] of ((await shared)?.windows ?? []).entries()) {
      const path = join(projectRoot, 'out', 'test-reports', `${name}-${index + 1}.png`);
      const [shot] = await Promise.allSettled([page.screenshot({ path, timeout: 5_000 })]);
      console.log(`      window ${index + 1}: ${shot.status === 'fulfilled' ? path : String(shot.reason)}`);
    }
    await stopShared();
  },
  afterAll: stopShared,
};
