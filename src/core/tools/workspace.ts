/**
 * The port to the files the user works on: Node's file system for the terminal, `vscode.workspace.fs` in the editor.
 *
 * Paths are relative, with `/`. With one folder open they start below it; with several the folder's name comes first
 * (`shop/src/pricing.ts`). The empty path is the whole workspace. No path leads outside, also not through a link.
 */

export type WorkspaceErrorReason =
  'no_folder' | 'outside' | 'not_found' | 'not_a_file' | 'not_a_folder' | 'unreadable';

/** `message` is a sentence for the model or the user that names the path. */
export class WorkspaceError extends Error {
  override readonly name = 'WorkspaceError';
  readonly reason: WorkspaceErrorReason;

  constructor(reason: WorkspaceErrorReason, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.reason = reason;
  }
}

export interface FolderEntry {
  readonly name: string;
  readonly kind: 'file' | 'folder';
}

export interface FileStat {
  readonly kind: 'file' | 'folder';
  /** Bytes. */
  readonly size: number;
}

export interface FindFilesQuery {
  /** Matched against paths below their folder (glob.ts); null: all files. */
  readonly glob: string | null;
  readonly limit: number;
  readonly signal: AbortSignal;
}

export interface FoundFiles {
  /** Sorted by folder, then path. */
  readonly paths: readonly string[];
  /** False when the limit cut the list. */
  readonly isComplete: boolean;
}

/** Every method may raise a `WorkspaceError`. */
export interface Workspace {
  /** The open folders' names, unlike each other, in the user's order; empty without a workspace. */
  folderNames(): readonly string[];
  /** Leaves out `ignoredFolders`. */
  findFiles(query: FindFilesQuery): Promise<FoundFiles>;
  stat(path: string): Promise<FileStat>;
  readFile(path: string): Promise<Uint8Array>;
  /** Sorted by name, folders first; ignored folders are listed too. */
  listFolder(path: string): Promise<readonly FolderEntry[]>;
}

/** Folders of tools and of build results: nobody asks about them, and they outnumber the sources. */
export const ignoredFolders: ReadonlySet<string> = new Set([
  '.git',
  '.hg',
  '.jj',
  '.svn',
  '.cache',
  '.gradle',
  '.mypy_cache',
  '.next',
  '.nuxt',
  '.pytest_cache',
  '.tox',
  '.turbo',
  '.venv',
  '.vscode-test',
  '__pycache__',
  'bower_components',
  'coverage',
  'dist',
  'node_modules',
  'out',
  'target',
  'venv',
]);

export interface FolderPath {
  /** Index into `folderNames()`. */
  readonly folder: number;
  /** Path below the folder; empty for the folder itself. */
  readonly path: string;
}

/**
 * Where a path leads, by its words alone (links are the adapter's to follow). Null: the whole workspace, when several
 * folders are open. Raises `no_folder`, `outside`, and `not_found` for a path without its folder's name.
 */
export function locate(path: string, folderNames: readonly string[]): FolderPath | null {
  if (folderNames.length === 0)
    throw new WorkspaceError('no_folder', 'No folder is open, so there are no files to look at.');
  if (/^([/\\]|[A-Za-z]:)/.test(path))
    throw new WorkspaceError('outside', `${path} is not a path relative to the workspace.`);
  const segments: string[] = [];
  for (const segment of path.split(/[/\\]/)) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined)
      throw new WorkspaceError('outside', `${path} is outside the workspace.`);
  }
  if (folderNames.length === 1) return { folder: 0, path: segments.join('/') };
  const [name, ...rest] = segments;
  if (name === undefined) return null;
  const folder = folderNames.indexOf(name);
  if (folder === -1)
    throw new WorkspaceError(
      'not_found',
      `${path} does not start with the name of an open folder (${folderNames.join(', ')}).`,
    );
  return { folder, path: rest.join('/') };
}

/** The opposite of `locate`. */
export function workspacePath(target: FolderPath, folderNames: readonly string[]): string {
  const name = folderNames[target.folder];
  if (folderNames.length === 1 || name === undefined) return target.path;
  return target.path === '' ? name : `${name}/${target.path}`;
}
