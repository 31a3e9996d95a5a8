import { projectRoot } from '../../test/support/vscode/paths.ts';
import { run } from '../lib/commands.mjs';
import { step } from '../lib/step.mjs';
import { runChecks } from './checks.ts';
import { runExtensionSuite } from './extensionSuite.ts';
import { type MochaSuite, runMochaSuite, skipSuite } from './mochaSuite.ts';
import { type Outcome, failure, summary, total } from './outcome.ts';
import { type Requirement, anyVscode, browser, browserHostedVscode, nothing } from './requirements.ts';

interface Suite {
  readonly name: string;
  readonly needsBuild: boolean;
  readonly needs: Requirement;
  readonly run: () => Promise<Outcome>;
}

function mocha(needs: Requirement, suite: MochaSuite): Suite {
  return { name: suite.name, needsBuild: true, needs, run: () => runMochaSuite(suite) };
}

/** In the order in which they run: the quickest to tell of a fault first. */
const suites: readonly Suite[] = [
  { name: 'checks', needsBuild: false, needs: nothing, run: runChecks },
  // Two files at once: half of the time they wait, for other processes and for frames.
  mocha(nothing, {
    name: 'core',
    testLimit: 20,
    suiteLimit: 600,
    jobs: 2,
    hooks: 'test/core/store/support/hooks.ts',
  }),
  mocha(browser, { name: 'webview', testLimit: 60, suiteLimit: 600, jobs: 2 }),
  { name: 'extension', needsBuild: true, needs: anyVscode, run: runExtensionSuite },
  mocha(browserHostedVscode, {
    name: 'e2e',
    testLimit: 180,
    suiteLimit: 1800,
    hooks: 'test/e2e/sharedEditor.ts',
  }),
  mocha(nothing, { name: 'torture', testLimit: 180, suiteLimit: 900 }),
];

/** Runs the named suites, or all, and resolves to the exit code. The last line it prints is the plain count. */
export async function runSuites(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !suites.some((suite) => suite.name === name));
  if (unknown.length > 0) {
    console.error(
      `There is no suite "${unknown.join('", "')}"; there are ${suites.map(({ name }) => name).join(', ')}`,
    );
    return 2;
  }
  const chosen = suites.filter((suite) => names.length === 0 || names.includes(suite.name));
  const outcomes: Outcome[] = [];
  const lines: string[] = [];
  let built: boolean | undefined;
  for (const suite of chosen) {
    if (suite.needsBuild && built === undefined) {
      built =
        (await step('Building the extension', () =>
          run(process.execPath, ['esbuild.mjs'], { cwd: projectRoot }),
        )) === 0;
    }
    console.log(`\n=== ${suite.name}`);
    const start = Date.now();
    const outcome =
      suite.needsBuild && built === false
        ? failure('the build failed, so nothing ran')
        : await attempt(suite);
    outcomes.push(outcome);
    lines.push(
      `${suite.name.padEnd(10)} ${((Date.now() - start) / 1000).toFixed(1).padStart(6)} s   ${summary(outcome)}`,
    );
  }
  const all = total(outcomes);
  console.log(`\n${lines.join('\n')}\n`);
  console.log(summary(all));
  return all.failed > 0 || all.passed + all.skipped === 0 ? 1 : 0;
}

async function attempt(suite: Suite): Promise<Outcome> {
  try {
    const missing = await suite.needs();
    return missing === undefined ? await suite.run() : await skipSuite(suite.name, missing);
  } catch (error) {
    return failure(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}
