// npm run test:mutations [-- --rules]: breaks the lifecycle's code on purpose and looks whether a test notices.
// Without --rules: Stryker over the modules of stryker.config.mjs, last line the score, exit code 1 below the bar.
// With --rules: the rules of test/mutations/rules.mjs, each broken by hand in a copy of the tree.
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rules } from '../test/mutations/rules.mjs';
import { root } from './lib/project.mjs';

/** Percent of the mutants that a test must notice. */
const bar = 85;
const leastRules = 30;
const copied = [
  'src/core',
  'test/core',
  'test/support',
  'package.json',
  'tsconfig.base.json',
  'test/tsconfig.json',
];
const concurrency = 2;

/** The exit code, and what the process printed. */
function run(program, args, { cwd, quiet }) {
  const nice = process.platform === 'win32' ? [program, args] : ['nice', ['-n', '10', program, ...args]];
  return new Promise((resolve) => {
    const child = spawn(nice[0], nice[1], { cwd, stdio: ['ignore', quiet ? 'pipe' : 'inherit', 'pipe'] });
    let output = '';
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

function runTests(cwd, rule) {
  const title = rule.title;
  const mocha = join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');
  const hooks = './test/core/store/support/hooks.ts';
  const args = [
    '--import=tsx',
    '--require',
    hooks,
    '--timeout',
    '30000',
    '--exit',
    '--bail',
    '--grep',
    title,
    rule.test,
  ];
  return run(process.execPath, [mocha, ...args], { cwd, quiet: true });
}

function passes(output) {
  return Number(/(\d+) passing/.exec(output)?.[1] ?? 0);
}

/** Undefined: a test noticed. Otherwise why the rule is not protected. */
async function judge(cwd, rule) {
  const file = join(cwd, rule.source);
  const original = readFileSync(file, 'utf8');
  if (original.split(rule.find).length !== 2) return 'what it replaces is not there exactly once';
  const sound = await runTests(cwd, rule);
  if (sound.code !== 0) return `its test fails on the sound code\n${sound.output}`;
  if (passes(sound.output) === 0) return 'it names no test';
  writeFileSync(
    file,
    original.replace(rule.find, () => rule.replace),
  );
  try {
    const broken = await runTests(cwd, rule);
    if (broken.code === 0) return 'no test fails';
    return /\d+ failing/.test(broken.output) ? undefined : `the tests did not run\n${broken.output}`;
  } finally {
    writeFileSync(file, original);
  }
}

async function breakRules() {
  const chosen = process.env.HOLDFAST_RULE;
  const waiting = rules.filter(({ name }) => chosen === undefined || name.includes(chosen));
  const count = waiting.length;
  const unprotected = [];
  const worker = async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-rules-'));
    try {
      for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true });
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
      for (let rule = waiting.shift(); rule !== undefined; rule = waiting.shift()) {
        const reason = await judge(folder, rule);
        console.log(
          `${reason === undefined ? '✔' : '✘'} ${rule.name}${reason === undefined ? '' : `: ${reason}`}`,
        );
        if (reason !== undefined) unprotected.push(rule.name);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (chosen === undefined && count < leastRules) unprotected.push(`at least ${leastRules} rules are wanted`);
  console.log(`${count - unprotected.length} of ${count} rules protected`);
  return unprotected.length === 0 ? 0 : 1;
}

async function runStryker() {
  const stryker = join(root, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');
  const modules = process.argv.slice(2);
  const mutate = modules.length === 0 ? [] : ['--mutate', modules.join(',')];
  const { code, output } = await run(process.execPath, [stryker, 'run', ...mutate], {
    cwd: root,
    quiet: false,
  });
  if (code !== 0) {
    console.error(output);
    return 1;
  }
  const report = JSON.parse(readFileSync(join(root, 'reports', 'mutation', 'mutation.json'), 'utf8'));
  const statuses = Object.values(report.files).flatMap((file) => file.mutants.map((mutant) => mutant.status));
  const counted = (...wanted) => statuses.filter((status) => wanted.includes(status)).length;
  const detected = counted('Killed', 'Timeout');
  const valid = detected + counted('Survived', 'NoCoverage');
  const score = valid === 0 ? 0 : (100 * detected) / valid;
  console.log(`${detected} of ${valid} mutants noticed`);
  console.log(`Mutation score ${score.toFixed(1)} %`);
  return score < bar ? 1 : 0;
}

process.exitCode = process.argv.includes('--rules') ? await breakRules() : await runStryker();
