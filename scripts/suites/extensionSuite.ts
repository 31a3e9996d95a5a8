import { existsSync } from 'node:fs';
import { runGuarded } from './guardedProcess.ts';
import { freshReport, judge, testFiles } from './mochaSuite.ts';
import { type Outcome, failure } from './outcome.ts';

/** The tests inside an extension host; test/extension/run.ts chooses the VS Code. */
export async function runExtensionSuite(): Promise<Outcome> {
  if (testFiles('extension').length === 0) return failure('test/extension holds no test');
  const report = freshReport('extension');
  const result = await runGuarded(['--import', 'tsx', 'test/extension/run.ts'], {
    environment: { HOLDFAST_TEST_REPORT: report },
    limit: 300,
    isDone: () => existsSync(report),
  });
  return judge(report, result);
}
