#!/usr/bin/env node
// The file that @vscode/test-electron starts in place of a desktop VS Code; see standIn.ts.
import { register } from 'tsx/esm/api';

register();
const { standIn } = await import('./standIn.ts');
process.exit(await standIn(process.argv.slice(2)));
