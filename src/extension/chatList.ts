/** The list of all chats: a view of the store, never an index of its own. A failed read keeps the shown rows and says so. */
import * as vscode from 'vscode';
import { describeStoreProblem } from '../core/runtime/problems.ts';
import type { Session } from '../core/session/model.ts';
import { isEndedByUser } from '../core/session/reasons.ts';
import { chatTitle } from '../core/session/title.ts';
import { listChats } from '../core/store/sessions.ts';
import { chatListView, commands } from './contributions.ts';
import type { CoreAccess } from './core.ts';
import { Disposables } from './disposables.ts';
import { age } from './age.ts';

/** Rows fetched per group; the group says when there are more. */
const pageSize = 200;

export type ChatListNode =
  | { readonly kind: 'chat'; readonly session: Session; readonly isDraft: boolean }
  | { readonly kind: 'archived' };

export class ChatList implements vscode.TreeDataProvider<ChatListNode>, vscode.Disposable {
  readonly #core: CoreAccess;
  readonly #view: vscode.TreeView<ChatListNode>;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly #disposables = new Disposables();
  readonly #shown = new Map<'open' | 'archived', ChatListNode[]>();
  readonly onDidChangeTreeData = this.#changed.event;

  constructor(core: CoreAccess) {
    this.#core = core;
    this.#disposables.add(this.#changed);
    this.#view = this.#disposables.add(
      vscode.window.createTreeView(chatListView, { treeDataProvider: this }),
    );
    core.onDidOpen(({ registry }) => {
      registry.onDidChange(() => this.refresh());
    });
  }

  refresh(): void {
    this.#changed.fire(undefined);
  }

  async getChildren(node?: ChatListNode): Promise<ChatListNode[]> {
    if (node?.kind === 'chat') return [];
    const group = node === undefined ? 'open' : 'archived';
    try {
      const { store } = await this.#core.get();
      const rows = store.read((reader) =>
        listChats(reader, { archived: group === 'archived', limit: pageSize }),
      );
      const nodes = rows.map(({ session, hasDraft }): ChatListNode => ({
        kind: 'chat',
        session,
        isDraft: hasDraft && session.messageCount === 0,
      }));
      if (group === 'open') {
        const archived = store.read((reader) => listChats(reader, { archived: true, limit: 1 }));
        if (archived.length > 0) nodes.push({ kind: 'archived' });
        this.#view.message = '';
      }
      this.#shown.set(group, nodes);
      return nodes;
    } catch (error) {
      this.#view.message = describeStoreProblem(error).message;
      return this.#shown.get(group) ?? [];
    }
  }

  getTreeItem(node: ChatListNode): vscode.TreeItem {
    if (node.kind === 'archived') {
      const item = new vscode.TreeItem('Archived', vscode.TreeItemCollapsibleState.Collapsed);
      item.id = 'archived';
      item.iconPath = new vscode.ThemeIcon('archive');
      item.contextValue = 'archivedGroup';
      return item;
    }
    const { session } = node;
    const isArchived = session.endReason !== null && isEndedByUser(session.endReason);
    const isRunning = this.#core.current?.registry.isRunning(session.id) ?? false;
    const state = isRunning ? 'Running' : node.isDraft ? 'Draft' : isArchived ? 'Archived' : null;
    const item = new vscode.TreeItem(chatTitle(session), vscode.TreeItemCollapsibleState.None);
    item.id = session.id;
    item.description = [state, age(session.lastActivityAt, Date.now()), session.workspaceName]
      .filter((part) => part !== null)
      .join(' · ');
    item.tooltip = new vscode.MarkdownString().appendText(`${chatTitle(session)}\n${item.description}`);
    item.iconPath = new vscode.ThemeIcon(
      isRunning ? 'loading~spin' : node.isDraft ? 'edit' : isArchived ? 'archive' : 'comment',
    );
    item.contextValue = isArchived ? 'archived' : 'open';
    item.command = { command: commands.openChat, title: 'Open Chat', arguments: [node] };
    return item;
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}
