/** What the command line takes to write all of a large store to its output. */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { buildNodeProgram } from '../../support/nodeProgram.ts';
import { single, type Benchmark, type Outcome } from '../benchmark.ts';
import { wasmFile } from '../stores.ts';
import { cloneW2, megabytes, w2Store } from '../w2Store.ts';

/** Milliseconds between looks at the process; the system keeps its highest mark for us. */
const lookInterval = 20;

export const exportW2: Benchmark = single(
  {
    name: 'export-w2',
    group: 'store',
    what: 'memory of the process while `holdfast export --all` writes all of W2',
    unit: 'MB',
    bar: 300,
    direction: 'atMost',
    needsSqlite: false,
  },
  async (context) => {
    if (!fs.existsSync('/proc/self/status')) {
      return { value: null, note: 'the highest memory of a process is read from Linux only' };
    }
    const source = await w2Store(context);
    const folder = context.makeFolder();
    cloneW2(source, folder);
    const program = await buildCommandLine(context.makeFolder());
    return measure(program, folder, source.snapshotBytes);
  },
);

async function measure(program: string, folder: string, snapshotBytes: number): Promise<Outcome> {
  const output = path.join(path.dirname(program), 'export.json');
  const descriptor = fs.openSync(output, 'w');
  const words = [program, 'export', '--all', '--format', 'json', '--store', folder];
  const child = spawn(process.execPath, words, { stdio: ['ignore', descriptor, 'inherit'] });
  fs.closeSync(descriptor);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
  let highest = 0;
  while (child.exitCode === null && child.signalCode === null) {
    highest = Math.max(highest, highestMemory(child.pid ?? 0));
    await pause(lookInterval);
  }
  const code = await ended;
  if (code !== 0) throw new Error(`the export ended with ${String(code)}`);
  const { size } = fs.statSync(output);
  return {
    value: highest / 1_000_000,
    note: `${megabytes(size)} written; the snapshot, which it holds in memory, has ${megabytes(snapshotBytes)}`,
  };
}

/** Bytes; 0 once the process is gone. */
function highestMemory(pid: number): number {
  const file = `/proc/${pid}/status`;
  if (!fs.existsSync(file)) return 0;
  return Number(/VmHWM:\s*(\d+) kB/.exec(fs.readFileSync(file, 'utf8'))?.[1] ?? 0) * 1024;
}

/** The command line as the product has it. Gives the file. */
async function buildCommandLine(folder: string): Promise<string> {
  const file = await buildNodeProgram(folder, 'cli', 'src/cli/main.ts');
  fs.copyFileSync(wasmFile, path.join(folder, path.basename(wasmFile)));
  return file;
}
