import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleWorkspace } from './paths.ts';

export interface Scratch {
  readonly path: string;
  remove(): void;
}

/** A folder of its own for a test's server; removed when the test says so, so that a failed one can be looked at. */
export function scratchDirectory(name = 'holdfast-vscode-test-'): Scratch {
  const path = mkdtempSync(join(tmpdir(), name));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) };
}

/** A copy of the sample workspace that a test may change. */
export function copySampleWorkspace(directory: string, name = 'sample-workspace'): string {
  const path = join(directory, name);
  cpSync(sampleWorkspace, path, { recursive: true });
  return path;
}
