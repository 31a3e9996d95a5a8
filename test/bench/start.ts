/** Starts the measuring process with a Node that has SQLite, the peer of the figures, where one can be had. */
import { isBuiltin } from 'node:module';
import * as path from 'node:path';
import { run } from '../../scripts/lib/commands.mjs';
import { ensureVscodeWeb, vscodeWebUnsupported } from '../support/vscode/webInstall.ts';

/** The Node 24 that the browser-hosted VS Code runs on; elsewhere the one that runs. */
async function nodeWithSqlite(): Promise<string> {
  if (vscodeWebUnsupported() === undefined) {
    try {
      return (await ensureVscodeWeb()).node;
    } catch (error) {
      console.error(
        `Node 24 could not be installed: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
  if (!isBuiltin('node:sqlite')) {
    console.error(`Node ${process.versions.node} has no SQLite: figures that compare with it are not run.`);
  }
  return process.execPath;
}

/** Resolves to the exit code. `output`: the file for the JSON; null: standard output. */
export async function startBenchmarks(words: readonly string[], output: string | null): Promise<number> {
  const root = path.resolve(import.meta.dirname, '../..');
  const node = await nodeWithSqlite();
  const main = path.join(import.meta.dirname, 'main.ts');
  const where = output === null ? [] : ['--output', output];
  return run(node, ['--import=tsx', '--expose-gc', main, ...words, ...where], { cwd: root });
}
