import { makeFindFilesTool } from './findFiles.ts';
import { makeListFolderTool } from './listFolder.ts';
import { makeReadFileTool } from './readFile.ts';
import { makeSearchTextTool } from './searchText.ts';
import type { Tool } from './tool.ts';
import type { Workspace } from './workspace.ts';

/**
 * The tools that only look. They are given to a model also while no folder is open: they then say so, which it can
 * tell the user. `now`: Unix time in milliseconds.
 */
export function makeWorkspaceTools(workspace: Workspace, now: () => number): Tool[] {
  return [
    makeSearchTextTool(workspace, now),
    makeFindFilesTool(workspace),
    makeReadFileTool(workspace),
    makeListFolderTool(workspace),
  ];
}
