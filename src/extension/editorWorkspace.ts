/** The workspace port over `vscode.workspace.fs`: local, remote and virtual folders alike. */
import * as vscode from 'vscode';
import { globToRegExp } from '../core/tools/glob.ts';
import {
  ignoredFolders,
  locate,
  WorkspaceError,
  workspacePath,
  type FileStat,
  type FindFilesQuery,
  type FolderEntry,
  type FoundFiles,
  type Workspace,
} from '../core/tools/workspace.ts';

/** A glob that `findFiles` leaves out, whatever the user's own excludes say. */
const excluded = `**/{${[...ignoredFolders].join(',')}}/**`;

export class EditorWorkspace implements Workspace {
  folderNames(): readonly string[] {
    return (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.name);
  }

  async findFiles({ glob, limit, signal }: FindFilesQuery): Promise<FoundFiles> {
    const names = this.folderNames();
    locate('', names); // raises without a folder
    const pattern = glob === null ? null : globToRegExp(glob);
    const paths: string[] = [];
    for (const [index, folder] of (vscode.workspace.workspaceFolders ?? []).entries()) {
      const found = await withCancellation(signal, (token) =>
        vscode.workspace.findFiles(new vscode.RelativePattern(folder, '**'), excluded, undefined, token),
      );
      signal.throwIfAborted();
      const relative = found.map((uri) => uri.path.slice(folder.uri.path.replace(/\/?$/, '/').length));
      for (const path of relative.sort()) {
        if (pattern !== null && !pattern.test(path)) continue;
        if (paths.length >= limit) return { paths, isComplete: false };
        paths.push(workspacePath({ folder: index, path }, names));
      }
    }
    return { paths, isComplete: true };
  }

  async stat(path: string): Promise<FileStat> {
    const uri = this.#uri(path);
    if (uri === null) return { kind: 'folder', size: 0 };
    const found = await attempt(path, () => vscode.workspace.fs.stat(uri));
    return { kind: isFolder(found.type) ? 'folder' : 'file', size: found.size };
  }

  async readFile(path: string): Promise<Uint8Array> {
    const uri = this.#uri(path);
    if (uri === null) throw new WorkspaceError('not_a_file', 'The workspace itself is not a file.');
    return attempt(path, () => vscode.workspace.fs.readFile(uri));
  }

  async listFolder(path: string): Promise<readonly FolderEntry[]> {
    const uri = this.#uri(path);
    if (uri === null) return this.folderNames().map((name) => ({ name, kind: 'folder' }));
    const found = await attempt(path, () => vscode.workspace.fs.readDirectory(uri));
    return found
      .map(([name, type]): FolderEntry => ({ name, kind: isFolder(type) ? 'folder' : 'file' }))
      .sort((one, other) =>
        one.kind === other.kind ? (one.name < other.name ? -1 : 1) : one.kind === 'folder' ? -1 : 1,
      );
  }

  /** Null: the whole workspace, when several folders are open. */
  #uri(path: string): vscode.Uri | null {
    const target = locate(path, this.folderNames());
    if (target === null) return null;
    const folder = vscode.workspace.workspaceFolders?.[target.folder];
    if (folder === undefined) throw new WorkspaceError('not_found', `${path} is in no open folder.`);
    return target.path === '' ? folder.uri : vscode.Uri.joinPath(folder.uri, target.path);
  }
}

function isFolder(type: vscode.FileType): boolean {
  return (type & vscode.FileType.Directory) !== 0;
}

async function withCancellation<Value>(
  signal: AbortSignal,
  action: (token: vscode.CancellationToken) => Thenable<Value>,
): Promise<Value> {
  const source = new vscode.CancellationTokenSource();
  const cancel = () => source.cancel();
  signal.addEventListener('abort', cancel);
  try {
    return await action(source.token);
  } finally {
    signal.removeEventListener('abort', cancel);
    source.dispose();
  }
}

async function attempt<Value>(path: string, action: () => Thenable<Value>): Promise<Value> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof vscode.FileSystemError)) throw error;
    switch (error.code) {
      case 'FileNotFound':
        throw new WorkspaceError('not_found', `${path} does not exist.`, { cause: error });
      case 'FileNotADirectory':
        throw new WorkspaceError('not_a_folder', `${path} is not a folder.`, { cause: error });
      case 'FileIsADirectory':
        throw new WorkspaceError('not_a_file', `${path} is a folder, not a file.`, { cause: error });
      default:
        throw new WorkspaceError('unreadable', `${path} cannot be read (${error.code}).`, { cause: error });
    }
  }
}
