/** `holdfast export`, `backup`, `restore` and `salvage`: what core does, told to a terminal. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { once } from 'node:events';
import { ulid } from 'ulid';
import { nodeFiles } from '../core/store/fileLayer.ts';
import { loadEngine } from '../core/store/openDatabase.ts';
import { salvage, type SalvageReport } from '../core/store/salvage.ts';
import type { Store } from '../core/store/store.ts';
import { checkBackup, readBackup, writeBackup } from '../core/store/transfer/backupFile.ts';
import { exportChats, type ExportFormat } from '../core/store/transfer/exportChats.ts';
import { mergeRecords } from '../core/store/transfer/merge.ts';
import type { Program } from './openStore.ts';
import { plainLine, plainText, printJson, type Output } from './output.ts';
import { UsageError } from './arguments.ts';

/** Streams to standard output, no faster than it is read. Returns false if a message could not be read. */
export async function runExport(
  store: Store,
  sessionId: string | null,
  format: ExportFormat,
  output: Output,
): Promise<boolean> {
  let isWhole = true;
  const onUnreadable = (what: string): void => {
    isWhole = false;
    output.complain(`${plainLine(what)}\n`);
  };
  for (const piece of exportChats(store, { sessionId, format, onUnreadable })) {
    const text = format === 'md' ? plainText(piece) : piece;
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  }
  return isWhole;
}

/** Returns false if something could not be read and is not in the file. */
export function runBackup(store: Store, file: string, json: boolean, output: Output): boolean {
  const report = store.read((reader) => writeBackup(nodeFiles, reader, path.resolve(file), Date.now()));
  const { chats, messages, unreadable } = report;
  for (const what of unreadable) output.complain(`${plainLine(what)}\n`);
  if (json) printJson(output, report);
  else output.print(`Saved ${chats} chats with ${messages} messages to ${file}, and read them back.\n`);
  return unreadable.length === 0;
}

/** Throws BackupDamagedError before anything is changed. */
export async function runRestore(store: Store, file: string, json: boolean, output: Output): Promise<void> {
  checkBackup(nodeFiles, file);
  const report = await mergeRecords(store, () => readBackup(nodeFiles, file));
  if (json) printJson(output, report);
  else {
    output.print(
      `${report.chats} chats with ${report.messages} messages were brought in and read back; ${report.knownChats} chats and ${report.knownMessages} messages were there already and were left as they are.\n`,
    );
    if (report.deletedBefore > 0) {
      output.print(
        `${report.deletedBefore} of the chats had been deleted permanently here and are back. Delete them again if that was not meant.\n`,
      );
    }
  }
}

/** Reads `damaged` into the new folder `target`. Throws UsageError if that is not empty. Returns false if something is lost. */
export async function runSalvage(
  program: Program,
  damaged: string,
  target: string,
  json: boolean,
  output: Output,
): Promise<boolean> {
  if (fs.existsSync(target) && fs.readdirSync(target).length > 0) {
    throw new UsageError(`${target} is not empty: salvage needs a new or an empty folder.`);
  }
  const engine = await loadEngine(nodeFiles.readFile(program.wasmFile));
  nodeFiles.makeFolder(target);
  const unreadable: string[] = [];
  const options = { files: nodeFiles, folder: damaged, engine, windowId: ulid(), now: Date.now };
  const report = salvage(options, target, (name, error) => unreadable.push(`${name}: ${String(error)}`));
  const lost = lostChanges(report);
  if (json) printJson(output, { ...report, lost, unreadable });
  else {
    for (const what of unreadable) output.print(`Could not be read: ${plainLine(what)}\n`);
    for (const [from, to] of report.missing) {
      output.print(from === to ? `Change ${from} is missing.\n` : `Changes ${from} to ${to} are missing.\n`);
    }
    if (report.failed > 0) {
      output.print(`${report.failed} changes were read, but what they build on is missing.\n`);
    }
    output.print(
      `${report.applied} changes since the last snapshot were read into ${target}; ${lost === 0 ? 'nothing is known to be missing' : `${lost} changes are lost`}. ${damaged} is as it was.\n`,
    );
  }
  return lost === 0 && unreadable.length === 0;
}

function lostChanges({ missing, failed }: SalvageReport): number {
  return missing.reduce((sum, [from, to]) => sum + to - from + 1, failed);
}
