/** The worker that makes snapshots, built as the product has it. */
import * as path from 'node:path';
import { build } from 'esbuild';

const root = path.resolve(import.meta.dirname, '../..');

/** Builds it into the folder. Gives the file. */
export async function buildCheckpointWorker(folder: string): Promise<string> {
  await build({
    absWorkingDir: root,
    entryPoints: { checkpoint: 'src/core/store/checkpointWorker.ts' },
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
  return path.join(folder, 'checkpoint.cjs');
}
