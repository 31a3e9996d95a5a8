/**
 * Brings back panels that the editor does not. When an extension host dies and is started again, its old pages stay on
 * screen and talk to nobody (zombies): they are replaced by live panels on the same chats. And a tab that the editor dropped,
 * because the window was reloaded before the new host was up, is opened again.
 *
 * A restored tab is given to us when it becomes visible. So a visible tab of ours that is still nobody's after a while is a
 * zombie. Should a slow machine prove that wrong, the tab is replaced by a panel on the same chat all the same.
 */
import * as vscode from 'vscode';
import { messageOf } from '../core/runtime/problems.ts';
import type { Route } from '../core/store/routes.ts';
import type { ChatPanel } from './chatPanel.ts';
import { chatPanelType } from './contributions.ts';
import type { CoreAccess } from './core.ts';
import { Disposables } from './disposables.ts';
import { panelIdOf, type ChatPanels } from './panels.ts';

/** How long the editor may take to hand over a restored tab, in milliseconds. */
const patienceMs = 3000;

export class PanelRevival implements vscode.Disposable {
  readonly #panels: ChatPanels;
  readonly #core: CoreAccess;
  readonly #log: (line: string) => void;
  readonly #disposables = new Disposables();
  readonly #waiting = new Map<vscode.TabGroup, NodeJS.Timeout>();

  constructor(panels: ChatPanels, core: CoreAccess, log: (line: string) => void) {
    this.#panels = panels;
    this.#core = core;
    this.#log = log;
    const { tabGroups } = vscode.window;
    this.#disposables.add(tabGroups.onDidChangeTabs(() => this.#look()));
    this.#disposables.add(tabGroups.onDidChangeTabGroups(() => this.#look()));
    const timer = setTimeout(() => void this.#reopenDropped(), patienceMs);
    this.#disposables.add({ dispose: () => clearTimeout(timer) });
    this.#look();
  }

  dispose(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
    this.#disposables.dispose();
  }

  /** Gives every visible tab of ours that is nobody's its time, then replaces it. */
  #look(): void {
    for (const group of vscode.window.tabGroups.all) {
      const tab = group.activeTab;
      if (tab === undefined || !isOurs(tab) || this.#isLive(group) || this.#waiting.has(group)) continue;
      const replaceIfDead = () => {
        this.#waiting.delete(group);
        if (group.activeTab === tab && !this.#isLive(group)) void this.#replace(tab);
      };
      this.#waiting.set(group, setTimeout(replaceIfDead, patienceMs));
    }
  }

  /** Whether the visible tab of the group is a panel of this host. */
  #isLive(group: vscode.TabGroup): boolean {
    return this.#inFront(group.viewColumn) !== undefined;
  }

  /** The panel of this host that is seen in the column. */
  #inFront(viewColumn: number | null): ChatPanel | undefined {
    return this.#panels.all.find(({ panel }) => panel.visible && panel.viewColumn === viewColumn);
  }

  async #replace(tab: vscode.Tab): Promise<void> {
    try {
      const place = { title: tab.label, viewColumn: tab.group.viewColumn };
      this.#log(`the panel "${tab.label}" belongs to a host that is gone; it is replaced`);
      const { panelId, content } = await this.#panels.find(place);
      // First the new one: the group must not close with its last tab. The words typed into the old page are kept by the pages.
      this.#panels.create(panelId, content, place);
      await vscode.window.tabGroups.close(tab, true);
    } catch (error) {
      this.#log(`a panel could not be replaced: ${messageOf(error)}`);
    }
  }

  /** Opens the panels that were there when their window died and that no tab stands for any more. */
  async #reopenDropped(): Promise<void> {
    try {
      const { routes } = await this.#core.get();
      const unclaimed = vscode.window.tabGroups.all.flatMap((group) =>
        group.tabs.filter(isOurs).map((tab) => tab.label),
      );
      for (const { panel } of this.#panels.all) take(unclaimed, panel.title);
      for (const route of routes.orphans()) {
        if (take(unclaimed, route.title)) continue;
        if (await routes.claim(panelIdOf(route))) {
          this.#log(`the panel "${route.title}" was open when its window died; it is opened again`);
          this.#createBehind(route);
        }
      }
    } catch (error) {
      this.#log(`panels of a dead window could not be opened again: ${messageOf(error)}`);
    }
  }

  /** The editor shows a new tab in front, but the user may already be typing in a panel there: that one stays in front. */
  #createBehind(route: Route): void {
    const inFront = this.#inFront(route.viewColumn);
    const hadFocus = inFront?.panel.active === true;
    this.#panels.create(panelIdOf(route), { sessionId: route.sessionId }, route);
    if (hadFocus) inFront.reveal();
    else inFront?.panel.reveal(undefined, true);
  }
}

/** Takes one such label out of the list, if there is one. */
function take(labels: string[], label: string): boolean {
  const index = labels.indexOf(label);
  if (index >= 0) labels.splice(index, 1);
  return index >= 0;
}

function isOurs(tab: vscode.Tab): boolean {
  // The editor puts a prefix of its own before the view type.
  return tab.input instanceof vscode.TabInputWebview && tab.input.viewType.endsWith(chatPanelType);
}
