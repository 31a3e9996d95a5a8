// The first steps of every script: dependencies, then a build. Plain JavaScript, because it runs before node_modules
// exists.
import { fileURLToPath } from 'node:url';
import { run } from './commands.mjs';
import { ensureDependencies } from './dependencies.mjs';
import { step } from './step.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export async function prepareProject() {
  await ensureDependencies(root);
  const code = await step('Building the extension', () =>
    run(process.execPath, ['esbuild.mjs'], { cwd: root }),
  );
  if (code !== 0) throw new Error('The build failed; its own words are above');
}

/** Runs a script's work; a failure becomes its message and exit code 1. */
export async function main(work) {
  try {
    process.exitCode = (await work()) ?? 0;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
