import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';

/** A small file system in memory, which only root on Linux can make. */
export class SmallDisk {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** `size`: megabytes. The reason in words when there can be none here. */
  static mount(size: number): SmallDisk | { readonly reason: string } {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-disk-'));
    const refusal = run('mount', ['-t', 'tmpfs', '-o', `size=${size}m`, 'tmpfs', folder]);
    if (refusal === null) return new SmallDisk(folder);
    fs.rmdirSync(folder);
    return { reason: `no small disk can be mounted here (${refusal})` };
  }

  setReadOnly(isReadOnly: boolean): void {
    const refusal = run('mount', ['-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, this.folder]);
    if (refusal !== null) throw new Error(refusal);
  }

  /** Also while files on it are open. */
  remove(): void {
    run('umount', ['-l', this.folder]);
    fs.rmSync(this.folder, { recursive: true });
  }
}

/** Null: it worked; otherwise what it said. */
function run(program: string, words: readonly string[]): string | null {
  const { error, status, stderr } = spawnSync(program, words, { encoding: 'utf8' });
  if (error !== undefined) return error.message;
  return status === 0 ? null : stderr.trim();
}
