import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../test/support/vscode/paths.ts';
import { npm } from '../lib/commands.mjs';
import { type Outcome, failure, passedOne, total } from './outcome.ts';

const checks = ['check:types', 'check:lint', 'check:format', 'check:dead'];

/** The checks that run no code of the product: each counts as one. */
export async function runChecks(): Promise<Outcome> {
  const manifest = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    scripts?: Record<string, string>;
  };
  const outcomes: Outcome[] = [];
  for (const name of checks) {
    if (manifest.scripts?.[name] === undefined) {
      outcomes.push(failure(`package.json has no script "${name}"`));
      continue;
    }
    const start = Date.now();
    const code = await npm(['run', '--silent', name], { cwd: projectRoot });
    const seconds = ((Date.now() - start) / 1000).toFixed(1);
    if (code === 0) console.log(`  ✔ ${name} (${seconds} s)`);
    outcomes.push(
      code === 0 ? passedOne : failure(`"npm run ${name}" ended with code ${code} (${seconds} s)`),
    );
  }
  return total(outcomes);
}
