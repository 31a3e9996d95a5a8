import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export type Settings = Readonly<Record<string, unknown>>;

/** Keeps the workbench quiet: nothing pops up that a test did not ask for, and nothing goes to the network. */
export const quietSettings: Settings = {
  'chat.disableAIFeatures': true,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': 'off',
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'npm.autoDetect': 'off',
  'telemetry.telemetryLevel': 'off',
  'typescript.tsserver.enabled': 'off',
  'update.mode': 'none',
  'window.commandCenter': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
};

export function settingsFile(userDataDirectory: string): string {
  return join(userDataDirectory, 'User', 'settings.json');
}

export function writeSettings(userDataDirectory: string, settings: Settings): void {
  const file = settingsFile(userDataDirectory);
  mkdirSync(dirname(file), { recursive: true });
  // By renaming: a window that watches the file must never read half of it.
  const whole = `${file}.new`;
  writeFileSync(whole, JSON.stringify(settings, null, 2));
  renameSync(whole, file);
}

/** Merges into the settings that `writeSettings` wrote; a running window notices the change of the file. */
export function changeSettings(userDataDirectory: string, changes: Settings): void {
  const present: unknown = JSON.parse(readFileSync(settingsFile(userDataDirectory), 'utf8'));
  writeSettings(userDataDirectory, { ...(present as Settings), ...changes });
}
