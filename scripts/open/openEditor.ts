import { findDesktopEditor, hasDisplay } from '../../test/support/vscode/desktop.ts';
import { vscodeWebUnsupported } from '../../test/support/vscode/webInstall.ts';
import { openInBrowser } from './browserEditor.ts';
import { downloadDesktopEditor, openDesktop } from './desktopEditor.ts';
import type { OpenRequest } from './request.ts';

/** Opens VS Code in the best way this machine has, and resolves to the exit code when it was closed. */
export async function openEditor(request: OpenRequest): Promise<number> {
  if (!request.web && hasDisplay()) {
    const editor = findDesktopEditor() ?? (await downloadDesktopEditor());
    if (editor !== undefined) return openDesktop(editor, request);
  }
  const unsupported = vscodeWebUnsupported();
  if (unsupported !== undefined) {
    console.error(
      `No desktop VS Code could be opened, and ${unsupported}. ` +
        'Install VS Code from https://code.visualstudio.com and run "npm start" again.',
    );
    return 1;
  }
  if (!request.web && !hasDisplay()) console.log('There is no display, so VS Code runs in the browser.');
  return openInBrowser(request);
}
