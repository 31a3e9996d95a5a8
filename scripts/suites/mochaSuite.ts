import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../test/support/vscode/paths.ts';
import { runQuietly } from '../lib/commands.mjs';
import { type GuardedResult, runGuarded } from './guardedProcess.ts';
import { type Outcome, failure, total } from './outcome.ts';

export interface MochaSuite {
  readonly name: string;
  /** Seconds for one test, and for the whole suite. */
  readonly testLimit: number;
  readonly suiteLimit: number;
  /** How many test files run at once; absent: one. */
  readonly jobs?: number;
  /** A module with hooks that hold for every test (mocha's root hooks). */
  readonly hooks?: string;
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly { readonly title: string; readonly reason: string }[];
}

const reporter = join(projectRoot, 'scripts', 'lib', 'countingReporter.cjs');
const mochaProgram = join(projectRoot, 'node_modules', 'mocha', 'bin', 'mocha.js');

export function testFiles(suite: string): string[] {
  const folder = join(projectRoot, 'test', suite);
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `test/${suite}/${file.replaceAll('\\', '/')}`)
    .sort();
}

export async function runMochaSuite(suite: MochaSuite): Promise<Outcome> {
  const files = testFiles(suite.name);
  if (files.length === 0) return failure(`test/${suite.name} holds no test`);
  const report = freshReport(suite.name);
  const limits = ['--timeout', String(suite.testLimit * 1000), '--reporter', reporter];
  const parallel = suite.jobs === undefined ? [] : ['--parallel', '--jobs', String(suite.jobs)];
  const hooks = suite.hooks === undefined ? [] : ['--require', join(projectRoot, suite.hooks)];
  const result = await runGuarded(
    [
      '--import',
      'tsx',
      mochaProgram,
      ...limits,
      ...parallel,
      ...hooks,
      '--reporter-option',
      `output=${report}`,
      ...chosenTests(),
      ...files,
    ],
    { limit: suite.suiteLimit, isDone: () => existsSync(report) },
  );
  return judge(report, result);
}

/** `HOLDFAST_TESTS=words` runs only the tests whose title holds these words, as mocha's --grep. */
function chosenTests(): string[] {
  const words = process.env['HOLDFAST_TESTS'];
  return words === undefined || words === '' ? [] : ['--grep', words];
}

export function freshReport(suite: string): string {
  const folder = join(projectRoot, 'out', 'test-reports');
  mkdirSync(folder, { recursive: true });
  const report = join(folder, `${suite}.json`);
  rmSync(report, { force: true });
  return report;
}

/** Believes the report only as far as the process agrees: a crash after it, or no test at all, is a failure. */
export function judge(report: string, { code, ended }: GuardedResult): Outcome {
  if (!existsSync(report))
    return failure(`the suite crashed (code ${code}${ended === undefined ? '' : `; ${ended}`})`);
  const counts = JSON.parse(readFileSync(report, 'utf8')) as Counts;
  const outcome = { passed: counts.passed, failed: counts.failed, skipped: counts.skipped.length };
  if (ended !== undefined) return total([outcome, failure(ended)]);
  if (outcome.passed + outcome.failed + outcome.skipped === 0) return failure('the suite ran no test');
  if (code !== 0 && outcome.failed === 0)
    return total([outcome, failure(`the suite ended with code ${code}`)]);
  return outcome;
}

/** Counts the tests of a suite that cannot run here, by a dry run; the reason is printed once. */
export async function skipSuite(suite: string, reason: string): Promise<Outcome> {
  const report = freshReport(suite);
  const files = testFiles(suite);
  // The tests for inside the extension host cannot even be loaded outside of it, so that suite counts as one.
  if (suite !== 'extension') {
    const dryRun = ['--dry-run', '--reporter', reporter, '--reporter-option', `output=${report}`];
    await runQuietly(process.execPath, ['--import', 'tsx', mochaProgram, ...dryRun, ...files], {
      cwd: projectRoot,
    });
  }
  const counts = existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as Counts) : undefined;
  const skipped = Math.max(1, (counts?.passed ?? 0) + (counts?.skipped.length ?? 0));
  console.log(`  skipped (${skipped}): ${reason}`);
  return { passed: 0, failed: 0, skipped };
}
