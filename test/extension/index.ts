import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Mocha from 'mocha';

/**
 * What the extension host calls, in a desktop VS Code and in the stand-in alike. Bundled with the tests into
 * out/extension-tests by run.ts; rejects when a test failed, which VS Code turns into its exit code.
 */
export async function run(): Promise<void> {
  const report = process.env['HOLDFAST_TEST_REPORT'];
  const mocha = new Mocha({
    ui: 'bdd',
    timeout: 30_000,
    color: false,
    reporter: join(__dirname, '..', '..', 'scripts', 'lib', 'countingReporter.cjs'),
    ...(report === undefined ? {} : { reporterOptions: { output: report } }),
  });
  for (const file of readdirSync(__dirname).sort()) {
    if (file.endsWith('.test.cjs')) mocha.addFile(join(__dirname, file));
  }
  const failures = await new Promise<number>((resolve) => mocha.run(resolve));
  if (failures > 0) throw new Error(`${failures} of the tests in the extension host failed`);
}
