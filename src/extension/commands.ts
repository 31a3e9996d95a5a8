/** What the user can ask for from the palette, menus and the chat list. Closing is not among them: closing ends nothing. */
import * as vscode from 'vscode';
import { messageOf } from '../core/runtime/problems.ts';
import { findWorkspaceChat } from '../core/runtime/workspaceChat.ts';
import { chatTitle } from '../core/session/title.ts';
import { branchFrom } from './branches.ts';
import type { ChatList, ChatListNode } from './chatList.ts';
import { commands } from './contributions.ts';
import type { CoreAccess } from './core.ts';
import type { Deletions } from './deletion.ts';
import { Disposables } from './disposables.ts';
import type { Models } from './models.ts';
import type { OtherChatPanels } from './otherChatPanels.ts';
import type { ChatPanels } from './panels.ts';
import { bringInChats, showStorage, verifyStore, type StorageServices } from './storage.ts';
import { workspaceIdentity } from './workspaceIdentity.ts';

export interface CommandServices {
  readonly core: CoreAccess;
  readonly panels: ChatPanels;
  readonly otherChats: OtherChatPanels;
  readonly list: ChatList;
  readonly deletions: Deletions;
  readonly models: Models;
  readonly storage: StorageServices;
  readonly log: (line: string) => void;
}

export function registerCommands(services: CommandServices): vscode.Disposable {
  const { core, panels, otherChats, list, deletions, models, storage } = services;
  const { folders } = storage;
  const disposables = new Disposables();
  const register = (name: string, run: (node?: ChatListNode) => Promise<void> | void) => {
    disposables.add(
      vscode.commands.registerCommand(name, async (node?: ChatListNode) => {
        try {
          await run(node);
        } catch (error) {
          await vscode.window.showErrorMessage(messageOf(error));
        }
      }),
    );
  };

  register(commands.newChat, () => {
    panels.openNew();
  });
  register(commands.openLastChat, () => openLastChat(services));
  register(commands.openChat, (node) => {
    if (node?.kind === 'chat') panels.open(node.row.session.id);
    if (node?.kind === 'otherChat') return otherChats.open(toOtherChat(node), chatTitle(node.row.session));
  });
  register(commands.archiveChat, async (node) => {
    if (node?.kind === 'chat') return (await core.get()).registry.archive(node.row.session.id);
    await panelInFront(panels).act((runtime, registry) => registry.archive(runtime.session.id));
  });
  register(commands.archiveAndStartNew, () => panelInFront(panels).archiveAndStartNew());
  register(commands.compactChat, () =>
    panelInFront(panels).act((runtime, registry) => registry.compact(runtime.session.id)),
  );
  register(commands.branchChat, async (node) => {
    if (node?.kind !== 'chat') return panelInFront(panels).branch(null);
    panels.open(await branchFrom(await core.get(), node.row.session.id, null));
  });
  register(commands.reopenChat, async (node) => {
    if (node?.kind === 'chat') return (await core.get()).registry.reopen(node.row.session.id);
    await panelInFront(panels).act((runtime, registry) => registry.reopen(runtime.session.id));
  });
  register(commands.deleteChat, async (node) => {
    if (node?.kind === 'chat') return deletions.start(node.row.session.id, chatTitle(node.row.session));
    await panelInFront(panels).act(({ session }) => deletions.start(session.id, chatTitle(session)));
  });
  register(commands.showMoreChats, (node) => {
    if (node?.kind === 'more') list.showMore(node.group);
  });
  register(commands.refreshChats, () => {
    folders.unlistAll();
    list.refresh();
  });
  register(commands.setApiKey, () => models.askForKey());
  register(commands.verifyStore, () => verifyStore(storage));
  register(commands.showStorage, () => showStorage(storage));
  register(commands.bringInChats, () => bringInChats(storage));
  register(commands.bringInChat, async (node) => {
    if (node?.kind === 'otherChat') await otherChats.bringIn(toOtherChat(node));
  });
  register(commands.openChatFolder, () => folders.add());
  register(commands.removeChatFolder, async (node) => {
    if (node?.kind === 'folder') await folders.remove(node.folder);
  });
  return disposables;
}

function toOtherChat({ folder, row }: Extract<ChatListNode, { kind: 'otherChat' }>) {
  return { folder, sessionId: row.session.id };
}

function panelInFront(panels: ChatPanels) {
  const panel = panels.active;
  if (panel === undefined)
    throw new Error('No chat panel is in front: click into the chat first, or use the chat list.');
  return panel;
}

async function openLastChat({ core, panels, log }: CommandServices): Promise<void> {
  const { store } = await core.get();
  const { uri } = workspaceIdentity();
  const options = { isWindowAlive: (windowId: string) => store.isWindowAlive(windowId), log };
  const chat = await store.write((writer) => findWorkspaceChat(writer, uri, options));
  if (chat.kind === 'found') {
    panels.open(chat.session.id);
    return;
  }
  const newChat = 'New Chat';
  const openIt = 'Open It';
  const answer =
    chat.kind === 'none'
      ? await vscode.window.showInformationMessage('There is no chat yet.', newChat)
      : await vscode.window.showInformationMessage(
          `This workspace has no chat yet. The latest chat is "${chatTitle(chat.session)}".`,
          openIt,
          newChat,
        );
  if (answer === newChat) panels.openNew();
  if (answer === openIt && chat.kind === 'offered') panels.open(chat.session.id);
}
