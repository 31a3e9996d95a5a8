/** Figures as a table for the terminal, as JSON for programs, and as the page in docs. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { holds, type Benchmark, type Figure, type Outcome } from './benchmark.ts';
import { short } from './statistics.ts';

export interface Row {
  readonly benchmark: Benchmark;
  readonly figure: Figure;
  readonly outcome: Outcome;
}

export interface Circumstances {
  /** As it was asked for. */
  readonly command: string;
  readonly scale: number;
  /** How many processes wanted a core when it began, on average over the last minute. */
  readonly load: number;
}

export function toJson(rows: readonly Row[]): string {
  return JSON.stringify(
    rows.map(({ figure, outcome }) => ({
      name: figure.name,
      value: outcome.value,
      unit: figure.unit,
      bar: figure.bar,
      holds: holds(figure, outcome),
    })),
  );
}

function valueOf({ figure, outcome }: Row): string {
  if (outcome.value === null) return 'not run';
  return figure.unit === 'ratio' ? short(outcome.value) : `${short(outcome.value)} ${figure.unit}`;
}

function barOf({ figure }: Row): string {
  const side = figure.direction === 'atMost' ? '≤' : '≥';
  return figure.unit === 'ratio' ? `${side} ${figure.bar}` : `${side} ${figure.bar} ${figure.unit}`;
}

function verdictOf({ figure, outcome }: Row): string {
  if (outcome.value === null) return '–';
  return holds(figure, outcome) ? 'holds' : 'MISSED';
}

export function toTable(rows: readonly Row[]): string {
  const cells = [
    ['NAME', 'VALUE', 'BAR', ''],
    ...rows.map((row) => [row.figure.name, valueOf(row), barOf(row), verdictOf(row)]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row, index) => {
      const line = row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd();
      const note = rows[index - 1]?.outcome.note ?? '';
      return note === '' ? line : `${line}\n    ${note}`;
    })
    .join('\n');
}

const machine = `${os.cpus().length} × ${os.cpus()[0]?.model.trim() ?? 'unknown processor'}, ${Math.round(os.totalmem() / 1e9)} GB, ${os.type()} ${os.arch()}, Node ${process.versions.node}`;

const head = `# Benchmarks

Written by \`npm run bench -- NAME... --record\`; a run replaces the sections of what it ran. The peer is Node's own SQLite with
a write-ahead log and \`synchronous=FULL\`, in the same run; figures are medians of repeated pairs. What each does stands in
\`test/bench\`. A figure taken while the machine was busy (load well above its cores) says little.
`;

/** Replaces the sections of these figures in the page and keeps the others. `order`: names of all figures. */
export function record(
  file: string,
  rows: readonly Row[],
  circumstances: Circumstances,
  order: readonly string[],
): void {
  const known = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  const sections = new Map<string, string>();
  for (const section of known.split(/^## /m).slice(1)) {
    const name = /^`([a-z0-9-]+)`/.exec(section)?.[1];
    if (name !== undefined) sections.set(name, `## ${section.trimEnd()}\n`);
  }
  for (const row of rows) sections.set(row.figure.name, sectionOf(row, circumstances));
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, [head, ...order.flatMap((name) => sections.get(name) ?? [])].join('\n'));
}

function sectionOf(row: Row, { command, scale, load }: Circumstances): string {
  const date = new Date().toISOString().slice(0, 10);
  const lines = [
    `**${valueOf(row)}**, bar ${barOf(row)}: ${verdictOf(row)}`,
    row.outcome.note,
    `${date}, ${machine}, load ${load.toFixed(1)}, scale ${scale}: \`${command}\``,
  ];
  const list = lines.filter((line) => line !== '').map((line) => `- ${line}\n`);
  return `## \`${row.figure.name}\`\n\n${row.benchmark.what}\n\n${list.join('')}`;
}
