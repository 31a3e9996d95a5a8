/**
 * Which chat each panel shows, durable: the handle by which a panel finds its chat when its own state is lost. A window
 * claims the routes of its panels. One that goes in order gives them free; one that is killed leaves claims of a dead window,
 * and so tells the next host which panels were open at that moment.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Session } from '../session/model.ts';
import { chatTitle } from '../session/title.ts';
import {
  claimRoute,
  closeRoute,
  getRoute,
  isClaimed,
  isPanelRoute,
  listRoutes,
  makeRoute,
  panelRouteKey,
  releaseRoutes,
  repointRoute,
  saveRoute,
  workspaceRouteKey,
  type IsWindowAlive,
  type Route,
} from '../store/routes.ts';
import { getSession } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import type { ReadTransaction } from '../store/transaction.ts';
import { matchLostPanel, type PanelMatch } from './lostPanel.ts';

/** Milliseconds between two looks whether the window before has let its panels go. */
const handOverLookMs = 100;

/** What a panel is known by when its state is lost. */
export interface PanelPlace {
  readonly title: string;
  /** One-based column of the editor; null when the panel is in none that is known. */
  readonly viewColumn: number | null;
}

export interface PanelRoutesOptions {
  readonly store: Store;
  readonly workspaceUri: string | null;
  readonly now: () => number;
}

export class PanelRoutes {
  readonly #options: PanelRoutesOptions;

  constructor(options: PanelRoutesOptions) {
    this.#options = options;
  }

  /**
   * Claims the route of a restored panel. False: a live window shows that panel, which is never robbed; the restored one
   * needs a route of its own. True also when there is no such route yet.
   */
  async claim(panelId: string): Promise<boolean> {
    const { store } = this.#options;
    const key = panelRouteKey(panelId);
    return store.write((writer) => {
      if (getRoute(writer, key) === null) return true;
      return (
        claimRoute(writer, { key, windowId: store.windowId, isWindowAlive: this.#isWindowAlive }) !== null
      );
    });
  }

  /** The chat that the panel showed last; null when none of it was stored. */
  sessionOf(panelId: string): string | null {
    const key = panelRouteKey(panelId);
    return this.#options.store.read((reader) => getRoute(reader, key))?.sessionId ?? null;
  }

  /** Records what a panel shows, and that it is the workspace's chat if it was used last. A chat that is not stored yet leaves no route. */
  async record(panelId: string, session: Session, place: PanelPlace): Promise<void> {
    const { store, workspaceUri, now } = this.#options;
    const key = panelRouteKey(panelId);
    const panel = makeRoute({
      key,
      sessionId: session.id,
      origin: key,
      workspaceUri,
      viewColumn: place.viewColumn,
      title: chatTitle(session),
      windowId: store.windowId,
      updatedAt: now(),
    });
    const workspaceKey = workspaceRouteKey(workspaceUri);
    await store.write((writer) => {
      if (getSession(writer, session.id) === null) return;
      if (!isSamePlace(getRoute(writer, key), panel)) saveRoute(writer, panel);
      const known = getRoute(writer, workspaceKey);
      if (known === null) {
        const route = { key: workspaceKey, sessionId: session.id, origin: workspaceKey, workspaceUri };
        saveRoute(writer, makeRoute({ ...route, updatedAt: now() }));
      } else if (known.sessionId !== session.id && isNewer(writer, session.id, known.sessionId)) {
        repointRoute(writer, workspaceKey, known.sessionId, session.id, now());
      }
    });
  }

  /** The user closed the panel. */
  async closed(panelId: string): Promise<void> {
    const { store, now } = this.#options;
    const key = panelRouteKey(panelId);
    await store.write((writer) => closeRoute(writer, key, now()));
  }

  /** The window goes in order: its panels are nobody's until they are restored. */
  async release(): Promise<void> {
    const { store } = this.#options;
    await store.write((writer) => releaseRoutes(writer, store.windowId));
  }

  /** The panels of this workspace that were open when their window died: never closed, claimed by a window that is gone. */
  orphans(): Route[] {
    const { store, workspaceUri } = this.#options;
    return store
      .read((reader) => listRoutes(reader, { workspaceUri }))
      .filter(
        (route) =>
          isPanelRoute(route) &&
          route.closedAt === null &&
          route.windowId !== null &&
          !isClaimed(route, this.#isWindowAlive),
      );
  }

  /**
   * What a tab whose title and column are all that is left may have been. A window that is being reloaded goes a while after
   * the new one has come, and shows its panels that long: the one that fits is waited for, `patience` milliseconds at most.
   */
  async match(place: PanelPlace, patience: number): Promise<PanelMatch> {
    const end = performance.now() + patience;
    for (;;) {
      const match = this.#matchNow(place, this.#isWindowAlive);
      if (match.kind === 'one' || performance.now() >= end) return match;
      const isHeld = this.#matchNow(place, () => false).kind === 'one';
      if (!isHeld) return match;
      await pause(handOverLookMs);
    }
  }

  #matchNow(place: PanelPlace, isWindowAlive: IsWindowAlive): PanelMatch {
    const { store, workspaceUri } = this.#options;
    return store.read((reader) => matchLostPanel(reader, { ...place, workspaceUri }, isWindowAlive));
  }

  readonly #isWindowAlive = (windowId: string): boolean => this.#options.store.isWindowAlive(windowId);
}

/** Whether the chat was used after the other one: a panel that merely comes into view does not become the workspace's chat. */
function isNewer(reader: ReadTransaction, id: string, other: string): boolean {
  const seq = (sessionId: string): number => getSession(reader, sessionId)?.lastActivitySeq ?? 0;
  return seq(id) > seq(other);
}

function isSamePlace(known: Route | null, panel: Route): boolean {
  return (
    known !== null &&
    known.sessionId === panel.sessionId &&
    known.title === panel.title &&
    known.viewColumn === panel.viewColumn &&
    known.windowId === panel.windowId &&
    known.closedAt === null
  );
}
