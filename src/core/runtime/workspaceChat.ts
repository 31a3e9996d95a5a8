/** **Open Last Chat**: which chat is "the chat of this workspace", and what to offer when there is none. */
import type { Session } from '../session/model.ts';
import { getRoute, makeRoute, saveRoute, workspaceRouteKey } from '../store/routes.ts';
import { getSession, latestChat } from '../store/sessions.ts';
import type { WriteTransaction } from '../store/transaction.ts';
import { healRoute, lookupRoute, type HealingOptions } from './healing.ts';

export type WorkspaceChat =
  /** The workspace's own chat: open it. */
  | { readonly kind: 'found'; readonly session: Session }
  /** A chat of another place: ask before it is opened. */
  | { readonly kind: 'offered'; readonly session: Session }
  | { readonly kind: 'none' };

/**
 * The chat to which the workspace's route leads, healed; without a route, the one with which the workspace goes on. A chat of
 * another place is only ever offered: the workspace does not adopt it by itself.
 */
export function findWorkspaceChat(
  writer: WriteTransaction,
  workspaceUri: string | null,
  options: HealingOptions,
): WorkspaceChat {
  const key = workspaceRouteKey(workspaceUri);
  healRoute(writer, key, options);
  const named = getRoute(writer, key);
  const session =
    (named === null ? null : getSession(writer, named.sessionId)) ?? recover(writer, workspaceUri, options);
  if (session !== null) return { kind: 'found', session };
  const latest = latestChat(writer, null);
  return latest === null ? { kind: 'none' } : { kind: 'offered', session: latest };
}

/** Makes the route to the chat that is found; null: there is none. */
function recover(
  writer: WriteTransaction,
  workspaceUri: string | null,
  options: HealingOptions,
): Session | null {
  const key = workspaceRouteKey(workspaceUri);
  const route = makeRoute({ key, sessionId: '', origin: key, workspaceUri, updatedAt: 0 });
  const id = (options.lookup ?? lookupRoute)(writer, route);
  const session = id === null ? null : getSession(writer, id);
  if (session === null) return null;
  saveRoute(writer, { ...route, sessionId: session.id, updatedAt: session.lastActivityAt });
  healRoute(writer, key, options);
  return getSession(writer, session.id);
}
