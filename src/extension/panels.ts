/** All chat panels of the window: opens them, restores them, and finds the one that shows a chat. */
import { ulid } from 'ulid';
import * as v from 'valibot';
import * as vscode from 'vscode';
import type { HostMessage } from '../core/protocol/hostMessages.ts';
import { pageStateSchema, type PageState } from '../core/protocol/pageMessages.ts';
import type { PanelPlace } from '../core/runtime/panelRoutes.ts';
import { messageOf } from '../core/runtime/problems.ts';
import { chatTitle, untitled } from '../core/session/title.ts';
import type { Route } from '../core/store/routes.ts';
import { getSession, listSessions } from '../core/store/sessions.ts';
import { age } from './age.ts';
import { ChatPanel, type ChatChoice, type ChatPanelServices, type PanelContent } from './chatPanel.ts';
import { chatPanelType } from './contributions.ts';
import { Disposables } from './disposables.ts';

/** How many recent chats are offered when it cannot be told what a panel showed. */
const offeredChats = 10;

/** Milliseconds that a window has to let its panels go when it is reloaded; an extension host gets five seconds for it. */
const handOverPatience = 8_000;

export class ChatPanels implements vscode.WebviewPanelSerializer, vscode.Disposable {
  readonly #services: ChatPanelServices;
  readonly #panels = new Set<ChatPanel>();
  readonly #disposables = new Disposables();

  constructor(services: Omit<ChatPanelServices, 'open'>) {
    this.#services = { ...services, open: (sessionId) => void this.open(sessionId) };
    this.#disposables.add(vscode.window.registerWebviewPanelSerializer(chatPanelType, this));
  }

  /** The panel in front of the user, if it is one of ours. */
  get active(): ChatPanel | undefined {
    return [...this.#panels].find(({ panel }) => panel.active);
  }

  get all(): readonly ChatPanel[] {
    return [...this.#panels];
  }

  /** Opens a panel on a new chat. Nothing is stored before there is something to keep. */
  openNew(): ChatPanel {
    return this.create(ulid(), { sessionId: ulid() });
  }

  /** Shows a chat: in the panel that already does, else in a new one. */
  open(sessionId: string): ChatPanel {
    const shown = [...this.#panels].find((panel) => panel.sessionId === sessionId);
    if (shown === undefined) return this.create(ulid(), { sessionId });
    shown.reveal();
    return shown;
  }

  /** The chat is gone, with all its rows: closes the panels that show it. Pages share a storage, so any of them can forget its words. */
  async deleted(rows: readonly string[]): Promise<void> {
    const told = [...this.#panels].map(({ panel }) =>
      panel.webview.postMessage({ type: 'forgetWords', sessionIds: [...rows] } satisfies HostMessage),
    );
    await Promise.all(told);
    for (const { panel, sessionId } of this.#panels) {
      if (sessionId !== null && rows.includes(sessionId)) panel.dispose();
    }
  }

  /** A new panel; `place` says where and under which title, for one that replaces another. */
  create(panelId: string, content: PanelContent, place?: PanelPlace): ChatPanel {
    const column = place?.viewColumn ?? vscode.ViewColumn.Active;
    const show = { viewColumn: column, preserveFocus: place !== undefined };
    const panel = vscode.window.createWebviewPanel(chatPanelType, place?.title ?? untitled, show);
    return this.#add(panel, panelId, content);
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const parsed = v.safeParse(pageStateSchema, state);
    if (parsed.success) {
      const { panelId, sessionId } = await this.#claimed(parsed.output);
      this.#add(panel, panelId, { sessionId });
      return;
    }
    this.#services.log(`a panel was restored without its state: ${v.summarize(parsed.issues)}`);
    const place = { title: panel.title, viewColumn: panel.viewColumn ?? null };
    const { panelId, content } = await this.find(place);
    this.#add(panel, panelId, content);
  }

  /**
   * What a panel showed whose title and column are all that is left: the one panel that fits, else the question to the user.
   * Never an empty chat in its place.
   */
  async find(place: PanelPlace): Promise<{ panelId: string; content: PanelContent }> {
    try {
      const { routes } = await this.#services.core.get();
      const match = await routes.match(place, handOverPatience);
      if (match.kind === 'one' && (await routes.claim(panelIdOf(match.route)))) {
        return { panelId: panelIdOf(match.route), content: { sessionId: match.route.sessionId } };
      }
      const fitting = match.kind === 'many' ? match.routes : [];
      return { panelId: ulid(), content: { choices: await this.#choices(fitting) } };
    } catch (error) {
      this.#services.log(`the chat of a restored panel cannot be looked up: ${messageOf(error)}`);
      return { panelId: ulid(), content: { choices: [] } };
    }
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /**
   * A restored panel keeps its route, unless another live window shows it: then it gets one of its own. The route knows best
   * which chat it was: the editor may not have got the page's state any more after the panel had switched to another.
   */
  async #claimed({ panelId, sessionId }: PageState): Promise<Pick<PageState, 'panelId' | 'sessionId'>> {
    try {
      const { routes } = await this.#services.core.get();
      if (!(await routes.claim(panelId))) return { panelId: ulid(), sessionId };
      return { panelId, sessionId: routes.sessionOf(panelId) ?? sessionId };
    } catch (error) {
      this.#services.log(`the route of panel ${panelId} cannot be claimed: ${messageOf(error)}`);
      return { panelId, sessionId }; // the page shows what is wrong with the store
    }
  }

  /** The chats that fit, best first, else the newest ones. */
  async #choices(fitting: readonly Route[]): Promise<ChatChoice[]> {
    const { store } = await this.#services.core.get();
    const sessions = store.read((reader) => {
      const found = fitting.flatMap((route) => getSession(reader, route.sessionId) ?? []);
      return found.length > 0 ? found : listSessions(reader, { archived: false, limit: offeredChats });
    });
    return sessions.map((session) => ({
      sessionId: session.id,
      title: chatTitle(session),
      detail: [age(session.lastActivityAt, Date.now()), session.workspaceName].filter(Boolean).join(' · '),
    }));
  }

  #add(panel: vscode.WebviewPanel, panelId: string, content: PanelContent): ChatPanel {
    const chatPanel = new ChatPanel(this.#services, panel, panelId, content);
    this.#panels.add(chatPanel);
    panel.onDidDispose(() => this.#panels.delete(chatPanel));
    return chatPanel;
  }
}

export function panelIdOf(route: Pick<Route, 'key'>): string {
  return route.key.slice('panel:'.length);
}
