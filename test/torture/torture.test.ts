/** The short run of the torture (main.ts) for `npm test`; `npm run test:torture -- --full` is the long one. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('main.ts', import.meta.url));

/** Seconds given to a run that shares its time among all parts; one part gets a fifth of it, the processes two. */
const seconds = 25;

describe('Nothing acknowledged is lost', () => {
  for (const [part, title] of [
    ['processes', 'when processes that write are killed and stopped'],
    ['power', 'when the power is cut'],
    ['cuts', 'when the journal is cut anywhere near its end'],
    ['flips', 'silently when a bit flips'],
    ['damages', 'silently when any file is cut, zeroed, deleted or replaced by an older copy'],
    ['model', 'in random transactions of several writers with crashes, against a model'],
  ] as const) {
    it(title, async () => {
      const { code, output } = await run(['--only', part, '--seconds', String(seconds)]);
      console.log(`      ${output.trim()}`);
      assert.equal(code, 0, output);
    });
  }
});

function run(options: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import=tsx', main, ...options]);
    let output = '';
    child.stdout.on('data', (data: Buffer) => (output += data.toString()));
    child.stderr.on('data', (data: Buffer) => (output += data.toString()));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
