import * as v from 'valibot';
import { makeTool, type Tool } from './tool.ts';
import type { Workspace } from './workspace.ts';

const maxEntries = 500;

export function makeListFolderTool(workspace: Workspace): Tool {
  return makeTool({
    name: 'list_folder',
    description:
      'Lists a folder of the workspace: one entry a line, folders first and with a slash at their end.',
    parameters: {
      type: 'object',
      properties: {
        path: {
          type: 'string',
          description: 'Path relative to the workspace; empty for the workspace itself.',
        },
      },
      additionalProperties: false,
    },
    schema: v.object({ path: v.optional(v.string(), '') }),
    async run({ path }) {
      const entries = await workspace.listFolder(path);
      if (entries.length === 0) return `(${path === '' ? 'The workspace' : path} is empty.)`;
      const lines = entries
        .slice(0, maxEntries)
        .map((entry) => (entry.kind === 'folder' ? `${entry.name}/` : entry.name));
      if (entries.length > maxEntries) lines.push(`(${entries.length - maxEntries} more are not shown.)`);
      return lines.join('\n');
    },
  });
}
