/** Runs the real program, built as for the product, as a process of its own. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import * as esbuild from 'esbuild';
import * as v from 'valibot';
import { wasmFile } from '../store/support/values.ts';

const root = path.resolve(import.meta.dirname, '../../..');

/** The folder the program was built into, once per run of the tests; removed when they end. */
let built: Promise<string> | null = null;

function program(): Promise<string> {
  built ??= build();
  return built;
}

async function build(): Promise<string> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-cli-'));
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  fs.copyFileSync(wasmFile, path.join(folder, 'sql-wasm.wasm'));
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: { cli: 'src/cli/main.ts', checkpoint: 'src/core/store/checkpointWorker.ts' },
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    mainFields: ['module', 'main'],
    logLevel: 'warning',
  });
  return path.join(folder, 'cli.cjs');
}

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A running `holdfast`. */
export class Running {
  readonly ended: Promise<Result>;
  readonly process: ChildProcessWithoutNullStreams;
  #stdout = '';
  #stderr = '';

  constructor(process: ChildProcessWithoutNullStreams) {
    this.process = process;
    process.stdout.setEncoding('utf8').on('data', (text: string) => void (this.#stdout += text));
    process.stderr.setEncoding('utf8').on('data', (text: string) => void (this.#stderr += text));
    process.stdin.on('error', () => undefined); // it may end before it has read everything
    this.ended = once(process, 'close').then(() => ({
      code: process.exitCode,
      stdout: this.#stdout,
      stderr: this.#stderr,
    }));
  }

  /** Printed so far. */
  get stdout(): string {
    return this.#stdout;
  }

  /** Lines printed so far. */
  get lines(): string[] {
    return this.#stdout.split('\n').slice(0, -1);
  }

  write(text: string): void {
    this.process.stdin.write(text);
  }
}

export interface StartOptions {
  /** The current folder; absent: the one of the tests. */
  readonly folder?: string;
  /** Added to the environment. */
  readonly environment?: Readonly<Record<string, string>>;
}

export async function start(
  words: readonly string[],
  { folder, environment }: StartOptions = {},
): Promise<Running> {
  const env = { ...process.env, ...environment };
  return new Running(spawn(process.execPath, [await program(), ...words], { cwd: folder, env }));
}

export async function run(words: readonly string[], input = '', options: StartOptions = {}): Promise<Result> {
  const running = await start(words, options);
  running.process.stdin.end(input);
  return running.ended;
}

/** What the program printed with `--json`, parsed; fails on another exit code. */
export async function runJson<Schema extends v.GenericSchema>(
  schema: Schema,
  words: readonly string[],
  code = 0,
): Promise<v.InferOutput<Schema>> {
  const result = await run([...words, '--json']);
  if (result.code !== code) throw new Error(`${words.join(' ')}: ${result.code} ${result.stderr}`);
  return v.parse(schema, JSON.parse(result.stdout));
}

export function messageLine(id: string, text = `text of ${id}`, role = 'user'): string {
  return `${JSON.stringify({ id, role, text })}\n`;
}

export const listSchema = v.array(
  v.strictObject({
    id: v.string(),
    title: v.string(),
    state: v.string(),
    source: v.string(),
    messageCount: v.number(),
    lastActivityAt: v.number(),
  }),
);

export const chatSchema = v.strictObject({
  id: v.string(),
  title: v.string(),
  state: v.string(),
  messages: v.array(
    v.strictObject({
      id: v.string(),
      seq: v.number(),
      role: v.string(),
      status: v.string(),
      text: v.string(),
    }),
  ),
});

export const reportSchema = v.strictObject({
  ok: v.boolean(),
  faults: v.array(v.string()),
  sessions: v.number(),
  messages: v.number(),
  frames: v.number(),
  skippedFrames: v.number(),
  blobs: v.number(),
  unnamedBlobs: v.number(),
});
