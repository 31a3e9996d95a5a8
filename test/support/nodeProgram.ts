/** Programs for Node, built as the product has them (see esbuild.mjs). */
import * as path from 'node:path';
import { build } from 'esbuild';

const root = path.resolve(import.meta.dirname, '../..');

/** Builds the entry (from the project's root) as `name`.cjs into the folder. Gives the file. */
export async function buildNodeProgram(folder: string, name: string, entry: string): Promise<string> {
  await build({
    absWorkingDir: root,
    entryPoints: { [name]: entry },
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    mainFields: ['module', 'main'],
    logLevel: 'warning',
  });
  return path.join(folder, `${name}.cjs`);
}
