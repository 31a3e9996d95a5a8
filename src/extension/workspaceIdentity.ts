/** Which workspace a chat was made in: a filter for lists, never an identity, so that moving a folder loses nothing. */
import * as vscode from 'vscode';

export interface WorkspaceIdentity {
  readonly uri: string | null;
  readonly name: string | null;
}

/** The workspace file, else the first folder, else nothing. */
export function workspaceIdentity(): WorkspaceIdentity {
  const uri = vscode.workspace.workspaceFile ?? vscode.workspace.workspaceFolders?.[0]?.uri;
  return { uri: uri?.toString() ?? null, name: vscode.workspace.name ?? null };
}
