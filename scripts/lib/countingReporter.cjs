// A mocha reporter for people and for scripts/test.mjs at once: the usual "spec" output, and the counts as JSON in
// the file named by the reporter option "output". CommonJS, because mocha loads it by path, also inside VS Code.
const console = require('node:console');
const { mkdirSync, writeFileSync } = require('node:fs');
const { dirname } = require('node:path');
const Mocha = require('mocha');

const reasonPattern = / «skipped: (.+?)»/;

class CountingReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const skipped = [];
    runner.on(Mocha.Runner.constants.EVENT_TEST_PENDING, (test) => {
      skipped.push({ title: test.fullTitle().replace(reasonPattern, ''), reason: reasonOf(test) });
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

/** skipBecause() writes the reason into the title of the test or of its suite: all that comes out of a process of its own. */
function reasonOf(test) {
  return reasonPattern.exec(test.fullTitle())?.[1] ?? 'no reason given';
}

module.exports = CountingReporter;
