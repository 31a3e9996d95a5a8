// A mocha reporter for people and for scripts/test.mjs at once: the usual "spec" output, and the counts as JSON in
// the file named by the reporter option "output". CommonJS, because mocha loads it by path, also inside VS Code.
const console = require('node:console');
const { mkdirSync, writeFileSync } = require('node:fs');
const { dirname } = require('node:path');
const Mocha = require('mocha');

class CountingReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const skipped = [];
    runner.on(Mocha.Runner.constants.EVENT_TEST_PENDING, (test) => {
      skipped.push({ title: test.fullTitle(), reason: reasonOf(test) });
    });
    runner.once(Mocha.Runner.constants.EVENT_RUN_END, () => {
      for (const { title, reason } of skipped) console.log(`  skipped: ${title}: ${reason}`);
      const output = options.reporterOptions?.output;
      if (output === undefined) return;
      const { passes, failures } = this.stats;
      mkdirSync(dirname(output), { recursive: true });
      writeFileSync(output, JSON.stringify({ passed: passes, failed: failures, skipped }));
    });
  }
}

/** skipBecause() leaves the reason on the test or on one of its suites. */
function reasonOf(test) {
  for (let owner = test; owner !== undefined && owner !== null; owner = owner.parent) {
    if (typeof owner.skipReason === 'string') return owner.skipReason;
  }
  return 'no reason given';
}

module.exports = CountingReporter;
