import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';

export interface DesktopEditor {
  readonly name: string;
  /** The editor program itself, not the `code` shell script beside it: @vscode/test-electron needs the program. */
  readonly program: string;
}

const environment = process.env;

/** A window can be shown: always on macOS and Windows, on Linux with an X or Wayland display. */
export function hasDisplay(): boolean {
  if (process.platform !== 'linux') return true;
  return [environment['DISPLAY'], environment['WAYLAND_DISPLAY']].some(
    (value) => value !== undefined && value !== '',
  );
}

/** The first installed desktop VS Code: `HOLDFAST_VSCODE` (a program), then the PATH, then the usual folders. */
export function findDesktopEditor(): DesktopEditor | undefined {
  const chosen = environment['HOLDFAST_VSCODE'];
  if (chosen !== undefined && chosen !== '') {
    if (existsSync(chosen)) return { name: chosen, program: chosen };
    throw new Error(`HOLDFAST_VSCODE names a file that does not exist: ${chosen}`);
  }
  return [...onPath(), ...inUsualFolders()].find((editor) => existsSync(editor.program));
}

/** Where the program lies, seen from the script on the PATH, for each system's package layout. */
const besideScript: Readonly<Record<string, readonly string[]>> = {
  linux: ['../code', '../code-insiders', '../codium', '../share/code/code', '../share/codium/codium'],
  darwin: ['../../../MacOS/Electron', '../../../MacOS/Code', '../../../MacOS/VSCodium'],
  win32: ['../Code.exe', '../Code - Insiders.exe', '../VSCodium.exe'],
};

function onPath(): DesktopEditor[] {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const suffix = process.platform === 'win32' ? '.cmd' : '';
  const scripts = ['code', 'code-insiders', 'codium'].flatMap((name) =>
    folders.map((folder) => ({ name, path: join(folder, `${name}${suffix}`) })),
  );
  // A `code` without the program beside it is a remote terminal's or WSL's link to an editor elsewhere: not ours to use.
  return scripts
    .filter(({ path }) => existsSync(path))
    .flatMap(({ name, path }) => {
      const folder = resolve(realpathSync(path), '..');
      return (besideScript[process.platform] ?? []).map((relative) => ({
        name,
        program: resolve(folder, relative),
      }));
    });
}

function inUsualFolders(): DesktopEditor[] {
  return usualPrograms().map((program) => ({ name: program, program }));
}

function usualPrograms(): string[] {
  const home = environment['HOME'] ?? '';
  if (process.platform === 'darwin') {
    const applications = ['Visual Studio Code', 'Visual Studio Code - Insiders', 'VSCodium'];
    return ['/Applications', join(home, 'Applications')].flatMap((root) =>
      applications.flatMap((name) =>
        ['Electron', 'Code', 'VSCodium'].map((file) => join(root, `${name}.app`, 'Contents', 'MacOS', file)),
      ),
    );
  }
  if (process.platform === 'win32') {
    const perUser = environment['LOCALAPPDATA'];
    const roots = [
      perUser === undefined ? undefined : join(perUser, 'Programs'),
      environment['ProgramFiles'],
      environment['ProgramFiles(x86)'],
    ].filter((root) => root !== undefined);
    return roots.flatMap((root) => [
      join(root, 'Microsoft VS Code', 'Code.exe'),
      join(root, 'Microsoft VS Code Insiders', 'Code - Insiders.exe'),
      join(root, 'VSCodium', 'VSCodium.exe'),
    ]);
  }
  return [
    '/usr/share/code/code',
    '/usr/lib/code/code',
    '/opt/visual-studio-code/code',
    '/snap/code/current/usr/share/code/code',
    '/usr/share/code-insiders/code-insiders',
    '/usr/share/codium/codium',
    '/opt/vscodium-bin/codium',
  ];
}
