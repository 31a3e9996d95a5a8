/** What the chat list shows of other chat folders: a root for each, with its chats, which open read-only. */
import * as path from 'node:path';
import * as vscode from 'vscode';
import { describeStoreProblem } from '../core/runtime/problems.ts';
import { isArchived } from '../core/session/reasons.ts';
import { chatTitle } from '../core/session/title.ts';
import type { ChatRow } from '../core/store/sessions.ts';
import { age } from './age.ts';
import { commands } from './contributions.ts';
import type { OtherFolders } from './otherFolders.ts';

export type FolderNode = {
  readonly kind: 'folder';
  readonly folder: string;
  /** Why it cannot be read; null: it can. */
  readonly problem: string | null;
};

export type OtherFolderNode =
  | FolderNode
  | { readonly kind: 'otherChat'; readonly folder: string; readonly row: ChatRow }
  /** Its chats cannot be read. */
  | { readonly kind: 'folderProblem'; readonly folder: string; readonly message: string };

export async function folderNodes(folders: OtherFolders): Promise<FolderNode[]> {
  return Promise.all(
    folders.all.map(async (folder) => ({
      kind: 'folder' as const,
      folder,
      problem: await folders.problemOf(folder),
    })),
  );
}

/** One row more than `limit` when there are more. */
export async function otherChatNodes(
  folders: OtherFolders,
  folder: string,
  limit: number,
): Promise<OtherFolderNode[]> {
  try {
    const rows = await folders.chats(folder, limit);
    if (rows.length === 0) return [{ kind: 'folderProblem', folder, message: 'No chats' }];
    return rows.map((row) => ({ kind: 'otherChat', folder, row }));
  } catch (error) {
    return [{ kind: 'folderProblem', folder, message: describeStoreProblem(error).message }];
  }
}

export function otherFolderItem(node: OtherFolderNode): vscode.TreeItem {
  switch (node.kind) {
    case 'folder': {
      const { Collapsed, None } = vscode.TreeItemCollapsibleState;
      const item = new vscode.TreeItem(path.basename(node.folder), node.problem === null ? Collapsed : None);
      item.id = `folder:${node.folder}`;
      item.description = node.problem ?? path.dirname(node.folder);
      item.tooltip = node.problem === null ? `${node.folder}, read-only` : `${node.folder}: ${node.problem}`;
      item.iconPath = new vscode.ThemeIcon(node.problem === null ? 'folder-library' : 'warning');
      item.contextValue = 'otherFolder';
      return item;
    }
    case 'folderProblem': {
      const item = new vscode.TreeItem(node.message, vscode.TreeItemCollapsibleState.None);
      item.id = `problem:${node.folder}`;
      item.tooltip = node.message;
      return item;
    }
    case 'otherChat': {
      const { session } = node.row;
      const title = chatTitle(session);
      const item = new vscode.TreeItem(title, vscode.TreeItemCollapsibleState.None);
      item.id = `${node.folder}:${session.id}`;
      const state = isArchived(session) ? 'Archived' : null;
      item.description = [state, age(session.lastActivityAt, Date.now()), session.workspaceName]
        .filter((part) => part !== null)
        .join(' · ');
      item.tooltip = `${title}\n${item.description}\nRead-only, in ${node.folder}`;
      item.iconPath = new vscode.ThemeIcon('lock');
      item.contextValue = 'otherChat';
      item.command = { command: commands.openChat, title: 'Open Chat', arguments: [node] };
      return item;
    }
  }
}
