// npm run bench -- NAME... [--json] [--scale S] [--record]: measures, and compares with the bars of the project. With --json
// everything else that is said (by npm, too, if something must be installed) goes to standard error: an inner process does the
// work, and what it found comes back in a file.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureDependencies } from './lib/dependencies.mjs';
import { main, root } from './lib/project.mjs';
import { importTypeScript } from './lib/typescript.mjs';

const innerFlag = 'HOLDFAST_BENCH_OUTPUT';
const words = process.argv.slice(2);
const output = process.env[innerFlag] ?? null;

async function measure() {
  await ensureDependencies(root);
  const { startBenchmarks } = await importTypeScript(new URL('../test/bench/start.ts', import.meta.url));
  return startBenchmarks(words, output);
}

function runInner(file) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...words], {
      stdio: ['ignore', 2, 2],
      env: { ...process.env, [innerFlag]: file },
    });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

await main(async () => {
  if (output !== null || !words.includes('--json')) return measure();
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  try {
    const file = join(folder, 'figures.json');
    const code = await runInner(file);
    if (existsSync(file)) process.stdout.write(readFileSync(file));
    return code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
