/** Where the chats are, whether they are sound, and chats that come from elsewhere. */
import * as path from 'node:path';
import * as v from 'valibot';
import * as vscode from 'vscode';
import { StoreUnavailableError } from '../core/store/errors.ts';
import { nodeFiles } from '../core/store/fileLayer.ts';
import { checkBackup, readBackup } from '../core/store/transfer/backupFile.ts';
import { mergeRecords, type MergeReport } from '../core/store/transfer/merge.ts';
import { readRecords } from '../core/store/transfer/records.ts';
import { verifyInWorker } from '../core/store/verify/verifyInWorker.ts';
import { section, settings } from './contributions.ts';
import type { CoreAccess } from './core.ts';
import type { OtherFolders } from './otherFolders.ts';

export interface StorageServices {
  readonly core: CoreAccess;
  readonly folders: OtherFolders;
  /** The folder in use, or to be used once the store is opened. */
  readonly folder: () => string;
  /** The built files beside the extension. */
  readonly wasmFile: string;
  readonly verifyWorkerFile: string;
  readonly output: vscode.LogOutputChannel;
}

/** The folder of the setting, else the editor's own for this extension. Throws StoreUnavailableError for half a path. */
export function storageFolder(context: vscode.ExtensionContext): string {
  const value = vscode.workspace.getConfiguration(section).get<unknown>(settings.storageFolder);
  const folder = v.is(v.string(), value) ? value.trim() : '';
  if (folder === '') return context.globalStorageUri.fsPath;
  if (!path.isAbsolute(folder)) throw new StoreUnavailableError(folder, 'the setting needs a whole path');
  return path.normalize(folder);
}

/** Says which folder is in use, and shows it. */
export async function showStorage({ folder }: StorageServices): Promise<void> {
  const reveal = 'Open Folder';
  const copy = 'Copy Path';
  const answer = await vscode.window.showInformationMessage(`The chats are in ${folder()}.`, reveal, copy);
  if (answer === reveal) await vscode.env.openExternal(vscode.Uri.file(folder()));
  if (answer === copy) await vscode.env.clipboard.writeText(folder());
}

/** Checks every file, change and reference; changes nothing. */
export async function verifyStore(services: StorageServices): Promise<void> {
  const { core, output, wasmFile, verifyWorkerFile } = services;
  await core.get(); // a damaged store is repaired when it is opened, and that is told by itself
  const folder = services.folder();
  const report = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: 'Verifying the chats…' },
    () => verifyInWorker(verifyWorkerFile, folder, wasmFile),
  );
  const { faults, sessions, messages, frames, skippedFrames } = report;
  const counts = `${counted(sessions, 'chat')} with ${counted(messages, 'message')}`;
  output.info(`verified ${folder}: ${counts}, ${frames} changes in the journals, ${skippedFrames} skipped`);
  for (const fault of faults) output.error(fault);
  if (report.ok) {
    await vscode.window.showInformationMessage(`Everything is sound: ${counts}.`);
    return;
  }
  const details = 'Show Details';
  const answer = await vscode.window.showErrorMessage(
    `${counted(faults.length, 'fault')} ${faults.length === 1 ? 'was' : 'were'} found in ${folder}. Nothing was changed. Files that are damaged are repaired when the window is reloaded; what is missing can be brought in from a backup.`,
    details,
  );
  if (answer === details) output.show();
}

/** Merges the chats of a backup file or of another folder into this store; nothing that is here is overwritten. */
export async function bringInChats(services: StorageServices): Promise<void> {
  const { store } = await services.core.get();
  const source = await pickSource();
  if (source === null) return;
  const report = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Notification, title: 'Bringing in chats…' },
    async (): Promise<MergeReport> => {
      if (source.kind === 'file') {
        checkBackup(nodeFiles, source.path);
        return mergeRecords(store, () => readBackup(nodeFiles, source.path));
      }
      const log = (what: string) => services.output.warn(what);
      return services.folders.read(source.path, (reader) =>
        mergeRecords(store, () => readRecords(reader, log)),
      );
    },
  );
  const { chats, messages, knownChats, deletedBefore } = report;
  const isBack =
    deletedBefore === 0
      ? ''
      : ` ${counted(deletedBefore, 'chat')} that ${deletedBefore === 1 ? 'was' : 'were'} deleted permanently here ${deletedBefore === 1 ? 'is' : 'are'} back.`;
  await vscode.window.showInformationMessage(
    `${counted(chats, 'chat')} with ${counted(messages, 'message')} ${chats === 1 ? 'was' : 'were'} brought in; ${counted(knownChats, 'chat')} ${knownChats === 1 ? 'was' : 'were'} here already.${isBack}`,
  );
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

interface Source {
  readonly kind: 'file' | 'folder';
  readonly path: string;
}

/** Null: the user thought better of it. Most systems cannot offer files and folders in one dialog. */
async function pickSource(): Promise<Source | null> {
  const file = { label: 'A backup file', detail: 'Made with "holdfast backup"' };
  const folder = {
    label: 'A chat storage folder',
    detail: 'Of another profile or computer; "Show Storage" names it there',
  };
  const picked = await vscode.window.showQuickPick([file, folder], { title: 'Bring in chats from' });
  if (picked === undefined) return null;
  const isFolder = picked === folder;
  const uris = await vscode.window.showOpenDialog({
    canSelectFolders: isFolder,
    canSelectFiles: !isFolder,
    title: 'Bring In Chats',
    openLabel: 'Bring In',
  });
  const chosen = uris?.[0]?.fsPath;
  return chosen === undefined ? null : { kind: isFolder ? 'folder' : 'file', path: chosen };
}
