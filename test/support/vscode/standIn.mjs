#!/usr/bin/env node
// The file that @vscode/test-electron starts in place of a desktop VS Code; see standIn.ts.
import { importTypeScript } from '../../../scripts/lib/typescript.mjs';

const { standIn } = await importTypeScript(new URL('standIn.ts', import.meta.url));
process.exit(await standIn(process.argv.slice(2)));
