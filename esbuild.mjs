/**
 * Builds the product into dist/. `node esbuild.mjs` once, `--watch` for working on it, `--development` for readable output.
 *
 * Only the extension marks `vscode` external: a stray `import 'vscode'` in core, the CLI or the page breaks the build.
 */
import * as esbuild from 'esbuild';
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const root = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const development = process.argv.includes('--development') || process.argv.includes('--watch');

/** @type {esbuild.BuildOptions} */
const shared = {
  absWorkingDir: root,
  bundle: true,
  minify: !development,
  sourcemap: development ? 'linked' : false,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
};
/** @type {esbuild.BuildOptions} */
const node = { ...shared, platform: 'node', format: 'cjs', target: 'node20', mainFields: ['module', 'main'] };

export const builds = [
  { ...node, entryPoints: { extension: 'src/extension/extension.ts' }, external: ['vscode'] },
  { ...node, entryPoints: { checkpoint: 'src/core/store/checkpointWorker.ts' } },
  { ...node, entryPoints: { verify: 'src/core/store/verify/verifyWorker.ts' } },
  { ...node, entryPoints: { cli: 'src/cli/main.ts' } },
  {
    ...shared,
    entryPoints: { 'webview/main': 'src/webview/main.tsx', 'webview/styles': 'src/webview/main.css' },
    platform: 'browser',
    format: 'esm',
    target: 'chrome120',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.ttf': 'file' },
    assetNames: 'webview/[name]',
  },
].map((options) => ({
  ...options,
  outdir: 'dist',
  outExtension: options.format === 'cjs' ? { '.js': '.cjs' } : {},
}));

async function main() {
  fs.rmSync(path.join(root, 'dist'), { recursive: true, force: true });
  fs.mkdirSync(path.join(root, 'dist'));
  fs.copyFileSync(require.resolve('sql.js/dist/sql-wasm.wasm'), path.join(root, 'dist/sql-wasm.wasm'));
  // Only types stand there: the same text is a declaration file for whoever uses the API.
  fs.copyFileSync(path.join(root, 'src/extension/api.ts'), path.join(root, 'dist/api.d.ts'));
  if (process.argv.includes('--watch')) {
    const contexts = await Promise.all(builds.map((options) => esbuild.context(options)));
    await Promise.all(contexts.map((context) => context.watch()));
    return;
  }
  const results = await Promise.all(builds.map((options) => esbuild.build(options)));
  if (process.argv.includes('--sizes')) {
    for (const result of results)
      for (const [file, output] of Object.entries(result.metafile.outputs)) console.log(output.bytes, file);
  }
}

await main();
