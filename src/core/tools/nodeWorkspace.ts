/** The workspace port over Node's file system, for the terminal and the tests. */
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { globToRegExp } from './glob.ts';
import {
  ignoredFolders,
  locate,
  WorkspaceError,
  workspacePath,
  type FileStat,
  type FindFilesQuery,
  type FolderEntry,
  type FolderPath,
  type FoundFiles,
  type Workspace,
} from './workspace.ts';

export class NodeWorkspace implements Workspace {
  private readonly roots: readonly string[];
  private readonly names: readonly string[];
  /** Real paths of the roots, found out once: a search asks for them twice a file. */
  private readonly realRoots = new Map<number, string>();

  /** `roots`: absolute paths of the open folders. */
  constructor(roots: readonly string[]) {
    this.roots = [...roots];
    this.names = distinctNames(this.roots.map((root) => basename(root)));
  }

  folderNames(): readonly string[] {
    return this.names;
  }

  async findFiles({ glob, limit, signal }: FindFilesQuery): Promise<FoundFiles> {
    locate('', this.names); // raises without a folder
    const pattern = glob === null ? null : globToRegExp(glob);
    const paths: string[] = [];
    for (const folder of this.roots.keys()) {
      for await (const path of this.walk({ folder, path: '' }, signal)) {
        if (pattern !== null && !pattern.test(path)) continue;
        if (paths.length >= limit) return { paths, isComplete: false };
        paths.push(workspacePath({ folder, path }, this.names));
      }
    }
    return { paths, isComplete: true };
  }

  async stat(path: string): Promise<FileStat> {
    const target = locate(path, this.names);
    if (target === null) return { kind: 'folder', size: 0 };
    const found = await this.attempt(path, async () => stat(await this.resolve(target, path)));
    return { kind: found.isDirectory() ? 'folder' : 'file', size: found.size };
  }

  async readFile(path: string): Promise<Uint8Array> {
    const target = locate(path, this.names);
    if (target === null) throw new WorkspaceError('not_a_file', 'The workspace itself is not a file.');
    return this.attempt(path, async () => readFile(await this.resolve(target, path)));
  }

  async listFolder(path: string): Promise<readonly FolderEntry[]> {
    const target = locate(path, this.names);
    if (target === null) return this.names.map((name) => ({ name, kind: 'folder' }));
    return this.attempt(path, async () => {
      const found = await readdir(await this.resolve(target, path), { withFileTypes: true });
      const entries = found.map((entry): FolderEntry => ({
        name: entry.name,
        kind: entry.isDirectory() ? 'folder' : 'file',
      }));
      return entries.sort(byKindAndName);
    });
  }

  /** Links to folders are not followed, which also ends every cycle; links to files only when they stay inside. */
  private async *walk(folder: FolderPath, signal: AbortSignal): AsyncGenerator<string> {
    signal.throwIfAborted();
    const absolute = this.absolute(folder);
    let entries;
    try {
      entries = await readdir(absolute, { withFileTypes: true });
    } catch (error) {
      // A folder that cannot be read, or went away meanwhile, must not end the search of the others.
      if (folder.path === '') throw describe(error, this.names[folder.folder] ?? '');
      return;
    }
    for (const entry of entries.sort((one, other) => compare(one.name, other.name))) {
      const path = folder.path === '' ? entry.name : `${folder.path}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!ignoredFolders.has(entry.name)) yield* this.walk({ folder: folder.folder, path }, signal);
      } else if (entry.isFile() || (await this.isFileInside({ folder: folder.folder, path }))) {
        yield path;
      }
    }
  }

  private async isFileInside(target: FolderPath): Promise<boolean> {
    try {
      return (await stat(await this.resolve(target, target.path))).isFile();
    } catch {
      return false; // a broken link, or one that leads outside: not a file of this workspace
    }
  }

  private absolute(target: FolderPath): string {
    return join(this.roots[target.folder] ?? '', ...target.path.split('/'));
  }

  /** The real path, links followed; raises `outside` where they lead out of the folder. */
  private async resolve(target: FolderPath, shown: string): Promise<string> {
    const root = await this.realRoot(target.folder);
    const real = await realpath(this.absolute(target));
    const prefix = root.endsWith(sep) ? root : root + sep;
    if (real !== root && !real.startsWith(prefix))
      throw new WorkspaceError('outside', `${shown} leads outside the workspace.`);
    return real;
  }

  private async realRoot(folder: number): Promise<string> {
    const known = this.realRoots.get(folder);
    if (known !== undefined) return known;
    const real = await realpath(this.absolute({ folder, path: '' }));
    this.realRoots.set(folder, real);
    return real;
  }

  private async attempt<Value>(path: string, action: () => Promise<Value>): Promise<Value> {
    try {
      return await action();
    } catch (error) {
      throw describe(error, path);
    }
  }
}

function describe(error: unknown, path: string): WorkspaceError {
  if (error instanceof WorkspaceError) return error;
  const code = error instanceof Error && 'code' in error ? error.code : null;
  switch (code) {
    case 'ENOENT':
      return new WorkspaceError('not_found', `${path} does not exist.`, { cause: error });
    case 'ENOTDIR':
      return new WorkspaceError('not_a_folder', `${path} is not a folder.`, { cause: error });
    case 'EISDIR':
      return new WorkspaceError('not_a_file', `${path} is a folder, not a file.`, { cause: error });
    default:
      return new WorkspaceError('unreadable', `${path} cannot be read (${String(code ?? error)}).`, {
        cause: error,
      });
  }
}

/** Two open folders may have one name: the later ones are told apart by a number. */
function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let distinct = name;
    for (let count = 2; taken.has(distinct); count += 1) distinct = `${name}-${count}`;
    taken.add(distinct);
    return distinct;
  });
}

function byKindAndName(one: FolderEntry, other: FolderEntry): number {
  if (one.kind !== other.kind) return one.kind === 'folder' ? -1 : 1;
  return compare(one.name, other.name);
}

/** By code units: the same order on every computer. */
function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
