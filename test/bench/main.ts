/** The process that measures: `main.ts NAME... [--json] [--scale S] [--record] --output FILE`. Started by start.ts. */
import * as fs from 'node:fs';
import { isBuiltin } from 'node:module';
import * as os from 'node:os';
import * as path from 'node:path';
import { parseArgs } from 'node:util';
import type { Benchmark, BenchContext, Outcome } from './benchmark.ts';
import { buildCheckpointWorker } from '../support/checkpointWorker.ts';
import { benchmarks } from './catalog.ts';
import { record, toJson, toTable, type Row } from './report.ts';

const page = path.resolve(import.meta.dirname, '../../docs/benchmarks.md');

const usage = `Usage: npm run bench -- NAME... [--json] [--scale S] [--record]

  NAME      a benchmark or a group: ${[...new Set(benchmarks.map(({ group }) => group))].join(', ')}, ${benchmarks.map(({ name }) => name).join(', ')}
  --json    one array of {"name","value","unit","bar","holds"} on standard output
  --scale   size of the large workloads, from 0.01 to 1 (1)
  --record  write the figures into docs/benchmarks.md
`;

class UsageError extends Error {
  readonly reason = 'usage';
}

interface Request {
  readonly chosen: readonly Benchmark[];
  readonly words: readonly string[];
  readonly scale: number;
  readonly isJson: boolean;
  readonly isRecorded: boolean;
  readonly output: string | null;
}

function parseRequest(): Request {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
      scale: { type: 'string', default: '1' },
      output: { type: 'string' },
    },
  });
  const scale = Number(values.scale);
  if (!(scale >= 0.01 && scale <= 1)) throw new UsageError('--scale is a number from 0.01 to 1.');
  if (positionals.length === 0) throw new UsageError('Name what to measure.');
  for (const word of positionals) {
    if (!benchmarks.some(({ name, group }) => name === word || group === word))
      throw new UsageError(`There is no benchmark "${word}".`);
  }
  return {
    chosen: benchmarks.filter(({ name, group }) => positionals.includes(name) || positionals.includes(group)),
    words: positionals,
    scale,
    isJson: values.json,
    isRecorded: values.record,
    output: values.output ?? null,
  };
}

async function runAll(request: Request, context: BenchContext): Promise<Row[]> {
  const rows: Row[] = [];
  for (const benchmark of request.chosen) {
    context.say(`${benchmark.name}: ${benchmark.what}`);
    const outcomes = await runOne(benchmark, context);
    for (const [index, figure] of benchmark.figures.entries()) {
      const outcome = outcomes[index] ?? { value: null, note: 'it gave no figure' };
      rows.push({ benchmark, figure, outcome });
    }
  }
  return rows;
}

async function runOne(benchmark: Benchmark, context: BenchContext): Promise<readonly Outcome[]> {
  if (benchmark.needsSqlite && !isBuiltin('node:sqlite')) {
    const note = `Node ${process.versions.node} has no SQLite to compare with; 22.5 and newer have`;
    return benchmark.figures.map(() => ({ value: null, note }));
  }
  return benchmark.run(context);
}

async function main(): Promise<void> {
  const request = parseRequest();
  const load = os.loadavg()[0] ?? 0;
  const folders: string[] = [];
  const makeFolder = (): string => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-bench-'));
    folders.push(folder);
    return folder;
  };
  try {
    const context: BenchContext = {
      makeFolder,
      scale: request.scale,
      checkpointWorkerFile: await buildCheckpointWorker(makeFolder()),
      say: (sentence) => console.error(`${sentence} …`),
    };
    context.say(`Scale ${request.scale}, load ${load.toFixed(1)}, Node ${process.versions.node}`);
    const rows = await runAll(request, context);
    const table = `${toTable(rows)}\n`;
    if (request.isJson && request.output !== null) fs.writeFileSync(request.output, `${toJson(rows)}\n`);
    else if (request.isJson) process.stdout.write(`${toJson(rows)}\n`);
    if (request.isJson) process.stderr.write(table);
    else process.stdout.write(table);
    if (request.isRecorded) {
      const command = `npm run bench -- ${request.words.join(' ')}${request.scale === 1 ? '' : ` --scale ${request.scale}`}`;
      const order = benchmarks.flatMap(({ figures }) => figures.map(({ name }) => name));
      record(page, rows, { command, scale: request.scale, load }, order);
    }
  } finally {
    for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
  }
}

async function run(): Promise<number> {
  try {
    await main();
    return 0;
  } catch (error) {
    const isUsage = error instanceof UsageError || (error instanceof TypeError && 'code' in error);
    if (isUsage) console.error(`${error.message}\n\n${usage}`);
    else console.error(error);
    return isUsage ? 2 : 1;
  }
}

void run().then((code) => process.exit(code));
