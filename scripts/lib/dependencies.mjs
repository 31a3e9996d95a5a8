// Plain JavaScript without a dependency: it decides whether node_modules is there and right.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { npm } from './commands.mjs';
import { step } from './step.mjs';

const oldestNode = 20;

/** Installs the project's dependencies when they are missing or differ from the lock file. Offline otherwise. */
export async function ensureDependencies(root) {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < oldestNode) {
    throw new Error(
      `Node ${oldestNode} or newer is needed, this is ${process.versions.node}: https://nodejs.org`,
    );
  }
  const reason = whyInstall(root);
  if (reason === undefined) return;
  await step(`Installing the project's dependencies with "npm ci" (${reason}; about 0.3 GB)`, async () => {
    const code = await npm(['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root });
    if (code !== 0) throw new Error(`"npm ci" ended with code ${code}; its own words are above`);
  });
}

/**
 * Compares the lock file with the one that npm writes into node_modules when an install is complete. By content, not
 * by date: a checkout touches files that did not change.
 */
function whyInstall(root) {
  const installedFile = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedFile)) return 'there is no complete node_modules';
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages;
  for (const [folder, entry] of Object.entries(wanted)) {
    if (folder === '') continue;
    const present = installed[folder];
    if (present === undefined && entry.optional) continue;
    if (present?.version !== entry.version) {
      return `${folder.replace(/^.*node_modules\//, '')} ${entry.version ?? ''} is missing`;
    }
  }
  return undefined;
}
