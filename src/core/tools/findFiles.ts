import * as v from 'valibot';
import { isGlob } from './glob.ts';
import { makeTool, type Tool } from './tool.ts';
import type { Workspace } from './workspace.ts';

const maxFound = 200;
const maxWalked = 50_000;

export function makeFindFilesTool(workspace: Workspace): Tool {
  return makeTool({
    name: 'find_files',
    description:
      'Finds files of the workspace by their path: one path a line. A pattern is a glob such as **/*.test.ts, ' +
      'or part of a path or name, in which case letters may be small or large. ' +
      'Folders of build results and dependencies are left out.',
    parameters: {
      type: 'object',
      properties: {
        pattern: { type: 'string', description: 'A glob (**/*.ts) or a part of a path (pricing).' },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    schema: v.object({ pattern: v.pipe(v.string(), v.trim(), v.nonEmpty('must not be empty')) }),
    async run({ pattern }, { signal }) {
      const { paths, isComplete } = isGlob(pattern)
        ? await workspace.findFiles({ glob: pattern, limit: maxFound, signal })
        : await findByPart(workspace, pattern, signal);
      if (paths.length === 0) return `(No file matches ${pattern}.)`;
      const note = isComplete ? [] : [`(There are more; ask for less.)`];
      return [...paths, ...note].join('\n');
    },
  });
}

async function findByPart(
  workspace: Workspace,
  part: string,
  signal: AbortSignal,
): Promise<{ paths: readonly string[]; isComplete: boolean }> {
  const all = await workspace.findFiles({ glob: null, limit: maxWalked, signal });
  const wanted = part.toLowerCase().replaceAll('\\', '/');
  const paths = all.paths.filter((path) => path.toLowerCase().includes(wanted));
  return {
    paths: paths.slice(0, maxFound),
    isComplete: all.isComplete && paths.length <= maxFound,
  };
}
