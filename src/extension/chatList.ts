/** The list of all chats: a view of the store, never an index of its own. A failed read keeps the shown rows and says so. */
import * as vscode from 'vscode';
import { describeReadOnly, describeStoreProblem } from '../core/runtime/problems.ts';
import { isArchived } from '../core/session/reasons.ts';
import { chatTitle } from '../core/session/title.ts';
import { listChats, type ChatRow } from '../core/store/sessions.ts';
import { age } from './age.ts';
import { chatListView, commands } from './contributions.ts';
import type { CoreAccess } from './core.ts';
import type { Deletions } from './deletion.ts';
import { Disposables } from './disposables.ts';
import { folderNodes, otherChatNodes, otherFolderItem, type OtherFolderNode } from './otherFolderNodes.ts';
import type { OtherFolders } from './otherFolders.ts';
import { Pace } from './pace.ts';

/** Rows fetched per page of a group. */
const pageSize = 200;

/** A list of chats that has pages; `folder:…`: the chats of another folder. */
type Group = 'open' | 'archived' | `folder:${string}`;

export type ChatListNode =
  | { readonly kind: 'chat'; readonly row: ChatRow }
  | { readonly kind: 'archived' }
  | OtherFolderNode
  /** Chats of which the row is there and cannot be read. */
  | { readonly kind: 'unreadable'; readonly group: Group; readonly count: number }
  /** Shows one page more of its group. */
  | { readonly kind: 'more'; readonly group: Group };

/** A state of a chat as the list shows it, by name and icon; the first that holds is shown. */
const states = {
  unsaved: { name: 'Not saved yet', icon: 'warning' },
  running: { name: 'Running', icon: 'loading~spin' },
  draft: { name: 'Draft', icon: 'edit' },
  archived: { name: 'Archived', icon: 'archive' },
  interrupted: { name: 'Interrupted', icon: 'debug-disconnect' },
  idle: { name: null, icon: 'comment' },
} as const;

export class ChatList implements vscode.TreeDataProvider<ChatListNode>, vscode.Disposable {
  readonly #core: CoreAccess;
  readonly #deletions: Deletions;
  readonly #folders: OtherFolders;
  readonly #view: vscode.TreeView<ChatListNode>;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly #disposables = new Disposables();
  readonly #shown = new Map<Group, ChatListNode[]>();
  readonly #pages = new Map<Group, number>();
  readonly #pace = this.#disposables.add(new Pace(() => this.refresh()));
  readonly onDidChangeTreeData = this.#changed.event;

  constructor(core: CoreAccess, deletions: Deletions, folders: OtherFolders) {
    this.#core = core;
    this.#deletions = deletions;
    this.#folders = folders;
    this.#disposables.add(folders.onDidChange(() => this.refresh()));
    this.#disposables.add(deletions.onDidChange(() => this.refresh()));
    this.#disposables.add(this.#changed);
    this.#view = this.#disposables.add(
      vscode.window.createTreeView(chatListView, { treeDataProvider: this, showCollapseAll: false }),
    );
    // What changed while nobody looked.
    this.#disposables.add(
      this.#view.onDidChangeVisibility(({ visible }) => {
        if (visible) this.refresh();
      }),
    );
    this.#disposables.add(
      this.#view.onDidCollapseElement(({ element }) => {
        if (element.kind === 'folder') folders.unlist(element.folder);
      }),
    );
    core.onDidOpen(({ registry }) => {
      registry.onDidChange(() => this.#refreshSoon());
    });
  }

  refresh(): void {
    this.#changed.fire(undefined);
  }

  showMore(group: Group): void {
    this.#pages.set(group, (this.#pages.get(group) ?? 1) + 1);
    this.refresh();
  }

  async getChildren(node?: ChatListNode): Promise<ChatListNode[]> {
    if (node?.kind === 'folder') return this.#chatsOf(node.folder);
    if (node === undefined) return [...(await this.#rows('open')), ...(await folderNodes(this.#folders))];
    return node.kind === 'archived' ? this.#rows('archived') : [];
  }

  async #rows(group: 'open' | 'archived'): Promise<ChatListNode[]> {
    try {
      const nodes = await this.#read(group);
      this.#shown.set(group, nodes);
      this.#view.message = describeReadOnly((await this.#core.get()).store) ?? '';
      return nodes;
    } catch (error) {
      this.#view.message = describeStoreProblem(error).message;
      return this.#shown.get(group) ?? [];
    }
  }

  getTreeItem(node: ChatListNode): vscode.TreeItem {
    switch (node.kind) {
      case 'archived': {
        const item = new vscode.TreeItem('Archived', vscode.TreeItemCollapsibleState.Collapsed);
        item.id = 'archived';
        item.iconPath = new vscode.ThemeIcon('archive');
        item.contextValue = 'archivedGroup';
        return item;
      }
      case 'unreadable': {
        const { count, group } = node;
        const item = new vscode.TreeItem(
          `${count} ${count === 1 ? 'chat' : 'chats'} could not be read`,
          vscode.TreeItemCollapsibleState.None,
        );
        item.id = `unreadable:${group}`;
        item.description = 'Verify Store…';
        item.tooltip =
          'Nothing of them was removed. Verify Store shows what is wrong; Bring In Chats adds what is missing from a backup.';
        item.iconPath = new vscode.ThemeIcon('warning');
        item.contextValue = 'unreadable';
        item.command = { command: commands.verifyStore, title: 'Verify Store' };
        return item;
      }
      case 'more': {
        const item = new vscode.TreeItem('Show More', vscode.TreeItemCollapsibleState.None);
        item.id = `more:${node.group}`;
        item.iconPath = new vscode.ThemeIcon('ellipsis');
        item.contextValue = 'more';
        item.command = { command: commands.showMoreChats, title: 'Show More', arguments: [node] };
        return item;
      }
      case 'chat':
        return this.#chatItem(node);
      case 'folder':
      case 'otherChat':
      case 'folderProblem':
        return otherFolderItem(node);
    }
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  async #chatsOf(folder: string): Promise<ChatListNode[]> {
    const group: Group = `folder:${folder}`;
    const limit = this.#limitOf(group);
    const nodes = await otherChatNodes(this.#folders, folder, limit + 1);
    return nodes.length > limit ? [...nodes.slice(0, limit), { kind: 'more', group }] : nodes;
  }

  #limitOf(group: Group): number {
    return (this.#pages.get(group) ?? 1) * pageSize;
  }

  async #read(group: 'open' | 'archived'): Promise<ChatListNode[]> {
    const { store } = await this.#core.get();
    const limit = this.#limitOf(group);
    return store.read((reader) => {
      const unreadable = new Set<string>();
      const filter = { archived: group === 'archived', limit: limit + 1 };
      const rows = listChats(reader, filter, ({ sessionId }) => unreadable.add(sessionId));
      const shown = rows.slice(0, limit).filter((row) => this.#isListed(row));
      const nodes: ChatListNode[] = shown.map((row) => ({ kind: 'chat', row }));
      if (unreadable.size > 0) nodes.unshift({ kind: 'unreadable', group, count: unreadable.size });
      if (rows.length > limit) nodes.push({ kind: 'more', group });
      const hasArchived = group === 'open' && listChats(reader, { archived: true, limit: 1 }).length > 0;
      if (hasArchived) nodes.push({ kind: 'archived' });
      return nodes;
    });
  }

  /** One that the user deleted is gone at once, also while that can still be taken back. */
  #isListed({ session }: ChatRow): boolean {
    return !this.#deletions.isPending(session.id);
  }

  #chatItem(node: Extract<ChatListNode, { kind: 'chat' }>): vscode.TreeItem {
    const { session } = node.row;
    const state = states[this.#stateOf(node.row)];
    const title = chatTitle(session);
    const item = new vscode.TreeItem(title, vscode.TreeItemCollapsibleState.None);
    item.id = session.id;
    item.description = [state.name, age(session.lastActivityAt, Date.now()), session.workspaceName]
      .filter((part) => part !== null)
      .join(' · ');
    item.tooltip = `${title}\n${item.description}`;
    item.iconPath = new vscode.ThemeIcon(state.icon);
    item.contextValue = isArchived(session) ? 'archived' : 'open';
    item.command = { command: commands.openChat, title: 'Open Chat', arguments: [node] };
    return item;
  }

  #stateOf(row: ChatRow): keyof typeof states {
    const registry = this.#core.current?.registry;
    const { id, messageCount } = row.session;
    if (registry?.isUnsaved(id) === true) return 'unsaved';
    if (registry?.isRunning(id) === true || row.lastStatus === 'streaming') return 'running';
    if (row.hasDraft && messageCount === 0) return 'draft';
    if (isArchived(row.session)) return 'archived';
    return row.lastStatus === 'interrupted' ? 'interrupted' : 'idle';
  }

  #refreshSoon(): void {
    if (this.#view.visible) this.#pace.soon();
  }
}
