/**
 * Healing: what the places of a window point to is put right, at its start and again when a message is about to be sent. A
 * row that cleanup ended goes on, a row that compaction closed is replaced by its tip, a place that leads nowhere is
 * forgotten. What the user ended stays ended, and when in doubt everything stays as it is: a route is the only handle that a
 * place has on its chat.
 */
import { isArchived } from '../session/reasons.ts';
import { getFence, isFenced } from '../store/fences.ts';
import { tipOf } from '../store/lineage.ts';
import {
  deleteRoute,
  getRoute,
  isClaimed,
  isPanelRoute,
  listRoutes,
  repointRoute,
  type IsWindowAlive,
  type Route,
} from '../store/routes.ts';
import { getSession, latestRecoverable, reopenSession, requireSession } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import type { ReadTransaction, WriteTransaction } from '../store/transaction.ts';

/** Finds the session with which a place goes on; null: there is none. May throw: then the route is kept for the next time. */
export type RouteLookup = (reader: ReadTransaction, route: Route) => string | null;

/** A panel goes on within its lineage only; a workspace among the chats made in it since it was last reset. */
export const lookupRoute: RouteLookup = (reader, route) => {
  if (isPanelRoute(route)) return tipOf(reader, route.sessionId);
  const sinceSeq = route.origin === null ? 0 : (getFence(reader, route.origin) ?? 0);
  return latestRecoverable(reader, { workspaceUri: route.workspaceUri, sinceSeq })?.id ?? null;
};

export interface HealingOptions {
  readonly isWindowAlive: IsWindowAlive;
  readonly log: (line: string) => void;
  readonly lookup?: RouteLookup;
}

/** What healing did to one route. */
export type Healing =
  | { readonly kind: 'kept' | 'pruned' | 'reopened'; readonly key: string; readonly sessionId: string }
  | {
      readonly kind: 'repointed';
      readonly key: string;
      readonly sessionId: string;
      /** The session it named before. */
      readonly from: string;
    };

/**
 * Heals every route that no live window claims, in one transaction: all of it or, if a row cannot be read, nothing. Returns
 * what changed; when that is nothing, nothing is written. `store` null: there is nothing to heal.
 */
export async function healRoutes(store: Store | null, options: HealingOptions): Promise<Healing[]> {
  if (store === null) return [];
  return store.write((writer) => {
    const unclaimed = listRoutes(writer).filter((route) => !isClaimed(route, options.isWindowAlive));
    // Planned before anything changes, so that every route is judged by the same state.
    const plan = unclaimed.map((route) => planFor(writer, route, options));
    for (const healing of plan) apply(writer, healing);
    return plan.filter(({ kind }) => kind !== 'kept');
  });
}

/**
 * Heals one route, whoever claims it: a message is about to be sent there. Null: there is no such route. After `pruned` the
 * place needs a new session.
 */
export function healRoute(writer: WriteTransaction, key: string, options: HealingOptions): Healing | null {
  const route = getRoute(writer, key);
  if (route === null) return null;
  const healing = planFor(writer, route, options);
  apply(writer, healing);
  return healing;
}

/**
 * Heals the row that a message is about to be written to, for a runtime without a route. Returns the id to write to: its
 * tip, open unless the user ended it.
 */
export function healSession(writer: WriteTransaction, sessionId: string): string {
  const tip = tipOf(writer, sessionId);
  reopenUnlessEndedByUser(writer, tip);
  return tip;
}

function planFor(reader: ReadTransaction, route: Route, options: HealingOptions): Healing {
  const { key, sessionId } = route;
  const keep: Healing = { kind: 'kept', key, sessionId };
  const prune: Healing = { kind: 'pruned', key, sessionId };
  const session = getSession(reader, sessionId);
  if (session === null || session.endReason === null) return keep;
  const wasEndedByUser = isArchived(session);
  if (wasEndedByUser && isPanelRoute(route)) return keep;
  if (route.origin === null) return prune;
  const found = tryLookup(reader, route, options);
  if (found === undefined) return keep;
  if (found === null) return prune;
  const candidate = getSession(reader, found);
  if (candidate === null) return keep;
  if (isFenced(reader, route.origin, candidate.lastActivitySeq)) return prune;
  if (candidate.id !== sessionId) return { kind: 'repointed', key, sessionId: candidate.id, from: sessionId };
  // Only the user reopens what the user ended.
  return wasEndedByUser ? keep : { kind: 'reopened', key, sessionId };
}

/** Undefined: it failed. */
function tryLookup(
  reader: ReadTransaction,
  route: Route,
  options: HealingOptions,
): string | null | undefined {
  try {
    return (options.lookup ?? lookupRoute)(reader, route);
  } catch (error) {
    options.log(`route ${route.key} could not be looked up and stays as it is: ${String(error)}`);
    return undefined;
  }
}

function apply(writer: WriteTransaction, healing: Healing): void {
  const { key, sessionId } = healing;
  switch (healing.kind) {
    case 'kept':
      return;
    case 'pruned':
      deleteRoute(writer, key);
      return;
    case 'reopened':
      reopenUnlessEndedByUser(writer, sessionId);
      return;
    case 'repointed': {
      // The durable time: looking at a chat is no activity.
      const { lastActivityAt } = requireSession(writer, sessionId);
      repointRoute(writer, key, healing.from, sessionId, lastActivityAt);
      reopenUnlessEndedByUser(writer, sessionId);
    }
  }
}

function reopenUnlessEndedByUser(writer: WriteTransaction, sessionId: string): void {
  const session = getSession(writer, sessionId);
  if (session !== null && !isArchived(session)) reopenSession(writer, sessionId);
}
