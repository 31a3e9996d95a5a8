import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { NodeWorkspace } from '../../../src/core/tools/nodeWorkspace.ts';
import { makeWorkspaceTools } from '../../../src/core/tools/workspaceTools.ts';
import type { ToolResult } from '../../../src/core/tools/tool.ts';
import type { Workspace } from '../../../src/core/tools/workspace.ts';

export const sampleWorkspace = join(import.meta.dirname, '../../fixtures/sample-workspace');

const made: string[] = [];

/** A folder with these files, removed by `removeFolders`. */
export async function makeFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-tools-'));
  made.push(folder);
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

export async function removeFolders(): Promise<void> {
  for (const folder of made.splice(0)) await rm(folder, { recursive: true, force: true });
}

/** Runs one of the workspace tools over these folders. */
export function run(
  roots: readonly string[] | Workspace,
  name: string,
  input: unknown,
  options: { signal?: AbortSignal; now?: () => number } = {},
): Promise<ToolResult> {
  const workspace = 'folderNames' in roots ? roots : new NodeWorkspace(roots);
  const tool = makeWorkspaceTools(workspace, options.now ?? Date.now).find(
    (candidate) => candidate.name === name,
  );
  if (tool === undefined) throw new Error(`No tool ${name}`);
  return tool.run(input, { signal: options.signal ?? new AbortController().signal });
}
