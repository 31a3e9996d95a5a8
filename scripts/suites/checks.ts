import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../test/support/vscode/paths.ts';
import { npm } from '../lib/commands.mjs';
import { type Outcome, failure, passedOne, total } from './outcome.ts';

const checks = ['check:types', 'check:lint', 'check:format', 'check:dead'];

/** As many at once as keep two processors busy. */
const jobs = 2;

/** The checks that run no code of the product: each counts as one. */
export async function runChecks(): Promise<Outcome> {
  const manifest = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8')) as {
    scripts?: Record<string, string>;
  };
  const outcomes: Outcome[] = [];
  const waiting = [...checks];
  const work = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      outcomes.push(await runCheck(name, manifest.scripts?.[name] !== undefined));
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return total(outcomes);
}

async function runCheck(name: string, isThere: boolean): Promise<Outcome> {
  if (!isThere) return failure(`package.json has no script "${name}"`);
  const start = Date.now();
  const code = await npm(['run', '--silent', name], { cwd: projectRoot });
  const seconds = ((Date.now() - start) / 1000).toFixed(1);
  if (code !== 0) return failure(`"npm run ${name}" ended with code ${code} (${seconds} s)`);
  console.log(`  ✔ ${name} (${seconds} s)`);
  return passedOne;
}
