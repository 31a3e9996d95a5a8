/** Opens what a user clicked in a transcript. A model wrote the link, so only plain addresses and workspace files are opened. */
import * as vscode from 'vscode';

const webLink = /^(https?|mailto):/i;
/** `path`, `path:line`, `path:line:column`, `path#Lline`. */
const fileLink = /^(?<path>.+?)(?:[:#]L?(?<line>\d+)(?:[:-]L?(?<column>\d+))?)?$/;

/** Opens the link; returns a sentence for the user when it cannot. */
export async function openLink(
  href: string,
  besideColumn: vscode.ViewColumn | undefined,
): Promise<string | null> {
  if (webLink.test(href)) {
    await vscode.env.openExternal(vscode.Uri.parse(href, true));
    return null;
  }
  const groups = fileLink.exec(href)?.groups;
  const path = groups?.['path'];
  if (path === undefined || path.includes('\0')) return `Holdfast does not open this link: ${href}`;
  const uri = await findFile(path);
  if (uri === null) return `There is no file ${path} in this workspace.`;
  const line = Math.max(0, Number(groups?.['line'] ?? '1') - 1);
  const position = new vscode.Position(line, 0);
  await vscode.window.showTextDocument(uri, {
    selection: new vscode.Range(position, position),
    viewColumn: columnFor(besideColumn),
    preview: true,
  });
  return null;
}

/** Not over the panel itself: in another group if there is one, else in a new one beside it. */
function columnFor(panelColumn: vscode.ViewColumn | undefined): vscode.ViewColumn {
  const other = vscode.window.tabGroups.all.find((group) => group.viewColumn !== panelColumn);
  return other?.viewColumn ?? vscode.ViewColumn.Beside;
}

/** A path relative to a workspace folder, with or without the folder's name in front. Nothing outside the workspace. */
async function findFile(path: string): Promise<vscode.Uri | null> {
  const segments = decode(path)
    .replaceAll('\\', '/')
    .replace(/^\.?\//, '')
    .split('/');
  if (segments.includes('..')) return null;
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    const inFolder = segments[0] === folder.name ? [segments, segments.slice(1)] : [segments];
    for (const candidate of inFolder) {
      const uri = vscode.Uri.joinPath(folder.uri, ...candidate);
      if (await isFile(uri)) return uri;
    }
  }
  return null;
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) return path; // a file name with a bare percent sign
    throw error;
  }
}

async function isFile(uri: vscode.Uri): Promise<boolean> {
  try {
    return ((await vscode.workspace.fs.stat(uri)).type & vscode.FileType.File) !== 0;
  } catch (error) {
    if (error instanceof vscode.FileSystemError) return false;
    throw error;
  }
}
