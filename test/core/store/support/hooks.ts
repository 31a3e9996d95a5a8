/**
 * What mocha runs after each test, required by the suite (scripts/suites): a hook set on import would hold for one file only of those
 * that run in a process. It loads nothing of the product itself: Stryker breaks a constant before it loads the tests, and what
 * is there by then stays whole.
 */
import type { RootHookObject } from 'mocha';

export const mochaHooks: RootHookObject = {
  async afterEach(this: Mocha.Context) {
    this.timeout(30_000);
    const { closeStores } = await import('./stores.ts');
    await closeStores();
  },
};
