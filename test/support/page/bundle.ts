import { build } from 'esbuild';
import { join } from 'node:path';
import { projectRoot } from '../vscode/paths.ts';

export interface Asset {
  readonly name: string;
  readonly contents: Uint8Array;
}

/** The page's files as the product ships them (the options of esbuild.mjs), made in memory from the present source. */
export async function bundlePage(): Promise<readonly Asset[]> {
  const result = await build({
    absWorkingDir: projectRoot,
    entryPoints: { main: 'src/webview/main.tsx', styles: 'src/webview/main.css' },
    outdir: join(projectRoot, 'out'),
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'chrome120',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.ttf': 'file' },
    assetNames: '[name]',
    legalComments: 'none',
    logLevel: 'warning',
    write: false,
  });
  return result.outputFiles.map((file) => ({
    name: file.path.replace(/^.*[\\/]/, ''),
    contents: file.contents,
  }));
}
