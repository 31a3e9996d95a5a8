import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestRunFailedError, runTests } from '@vscode/test-electron';
import { build } from 'esbuild';
import { findDesktopEditor, hasDisplay } from '../support/vscode/desktop.ts';
import { projectRoot } from '../support/vscode/paths.ts';
import { quietSettings, writeSettings } from '../support/vscode/settings.ts';
import { copySampleWorkspace } from '../support/vscode/workspace.ts';

const sources = join(projectRoot, 'test', 'extension');
const bundles = join(projectRoot, 'out', 'extension-tests');

/**
 * Runs the tests of this folder inside an extension host: of an installed desktop VS Code where there is one with a
 * display, else of the stand-in, which is the browser-hosted VS Code behind the same command line.
 */
export async function runExtensionTests(): Promise<number> {
  await bundleTests();
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-host-'));
  const userData = join(directory, 'user-data');
  // A folder of its own: the tests see when it is first used.
  writeSettings(userData, { ...quietSettings, 'holdfast.storageFolder': join(directory, 'chats') });
  const editor = hasDisplay() ? findDesktopEditor() : undefined;
  console.log(
    `  in ${editor?.program ?? 'the browser-hosted VS Code (no desktop VS Code that could show a window)'}`,
  );
  try {
    return await runTests({
      vscodeExecutablePath: editor?.program ?? join(projectRoot, 'test', 'support', 'vscode', 'standIn.mjs'),
      extensionDevelopmentPath: process.env['HOLDFAST_EXTENSION'] ?? projectRoot,
      extensionTestsPath: join(bundles, 'index.cjs'),
      launchArgs: [
        copySampleWorkspace(directory),
        `--user-data-dir=${userData}`,
        `--extensions-dir=${join(directory, 'extensions')}`,
      ],
      // An editor started from an editor's own terminal must not take itself for a part of that one.
      extensionTestsEnv: { ELECTRON_RUN_AS_NODE: undefined, VSCODE_IPC_HOOK_CLI: undefined },
    });
  } catch (error) {
    if (error instanceof TestRunFailedError) return error.code ?? 1;
    throw error;
  } finally {
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function bundleTests(): Promise<void> {
  rmSync(bundles, { recursive: true, force: true });
  const tests = readdirSync(sources, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.test.ts'),
  );
  await build({
    entryPoints: ['index.ts', ...tests].map((file) => ({
      in: join(sources, file),
      out: file.replace(/\.ts$/, '').replaceAll(/[\\/]/g, '-'),
    })),
    outdir: bundles,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    sourcemap: 'inline',
    external: ['vscode', 'mocha'],
    logLevel: 'warning',
  });
}

runExtensionTests().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
