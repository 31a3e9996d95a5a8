// Runs other programs. Plain JavaScript without a dependency: it is needed before node_modules exists.
import { spawn } from 'node:child_process';

/** Runs a program to its end with this terminal's output and no input; resolves to its exit code, never rejects. */
export function run(command, args, { cwd, env = {}, shell = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      shell,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    child.once('error', (error) => {
      console.error(`${command} could not be started: ${error.message}`);
      resolve(127);
    });
    child.once('exit', (code, signal) => resolve(code ?? (signal === null ? 1 : 128)));
  });
}

/** The same with the output kept for the caller, who shows it only when the program failed. */
export function runQuietly(command, args, { cwd, env = {} } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.once('error', (error) => resolve({ code: 127, output: error.message }));
    child.once('close', (code) => resolve({ code: code ?? 128, output }));
  });
}

/**
 * Runs npm. Under `npm start` and `npm test` its own file is known, which spares the detour over npm.cmd and a
 * shell on Windows.
 */
export function npm(args, options = {}) {
  const own = process.env.npm_execpath;
  if (own !== undefined && /npm-cli\.[cm]?js$/.test(own))
    return run(process.execPath, [own, ...args], options);
  return run('npm', args, { ...options, shell: process.platform === 'win32' });
}
