import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { projectRoot } from '../../test/support/vscode/paths.ts';

/** What `npm start` was asked for. */
export interface OpenRequest {
  readonly folder: string;
  /** The sample workspace is ours, so it needs no question whether its authors are trusted. */
  readonly isSample: boolean;
  readonly web: boolean;
  readonly port: number | undefined;
}

/**
 * Where the editor that `npm start` opens keeps its profile: in the project, apart from the user's own. A desktop VS
 * Code puts a socket there whose path may not be longer than about a hundred characters.
 */
export function profileDirectory(kind: 'desktop' | 'web'): string {
  const inProject = join(projectRoot, '.holdfast-dev', kind);
  if (process.platform === 'win32' || inProject.length <= 70) return inProject;
  const name = createHash('sha256').update(projectRoot).digest('hex').slice(0, 12);
  return join(tmpdir(), `holdfast-dev-${name}`, kind);
}

/** Settings of the opened editor at its first start; the user's changes to them stay. */
export const firstSettings = {
  'extensions.ignoreRecommendations': true,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'workbench.startupEditor': 'none',
} as const;
