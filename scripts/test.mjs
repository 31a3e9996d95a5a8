// npm test [-- SUITE ...]: installs what is missing, builds once, runs the suites. Plain JavaScript, because it starts
// before node_modules exists; the rest is in suites/.
import { ensureDependencies } from './lib/dependencies.mjs';
import { root } from './lib/project.mjs';
import { importTypeScript } from './lib/typescript.mjs';

try {
  await ensureDependencies(root);
  const { runSuites } = await importTypeScript(new URL('suites/runSuites.ts', import.meta.url));
  process.exitCode = await runSuites(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.log('0 passed, 1 failed');
  process.exitCode = 1;
}
