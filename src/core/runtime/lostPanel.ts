/** A panel came back without its state: only its title and column are left to find its chat by. */
import { untitled } from '../session/title.ts';
import { isClaimed, isPanelRoute, listRoutes, type IsWindowAlive, type Route } from '../store/routes.ts';
import type { ReadTransaction } from '../store/transaction.ts';

export interface LostPanel {
  readonly workspaceUri: string | null;
  readonly title: string;
  readonly viewColumn: number | null;
}

export type PanelMatch =
  /** To be claimed (`claimRoute`) before it is shown: another panel may be looking for the same. */
  | { readonly kind: 'one'; readonly route: Route }
  /** The user has to choose; those that fit best first. */
  | { readonly kind: 'many'; readonly routes: readonly Route[] }
  | { readonly kind: 'none' };

/**
 * Finds the route of a lost panel among those of its workspace that were not closed and that no live window shows. Only a
 * title that fits is taken for an answer (any, for a panel that was kept untitled); everything else is the user's choice.
 */
export function matchLostPanel(
  reader: ReadTransaction,
  panel: LostPanel,
  isWindowAlive: IsWindowAlive,
): PanelMatch {
  const free = listRoutes(reader, { workspaceUri: panel.workspaceUri }).filter(
    (route) => isPanelRoute(route) && route.closedAt === null && !isClaimed(route, isWindowAlive),
  );
  // The editor may have kept the panel as it was before its chat had a title: then that says nothing.
  const titled = panel.title === untitled ? free : free.filter((route) => route.title === panel.title);
  const exact = titled.filter((route) => route.viewColumn === panel.viewColumn);
  const best = exact.length > 0 ? exact : titled;
  const [route] = best;
  if (best.length === 1 && route !== undefined) return { kind: 'one', route };
  if (free.length === 0) return { kind: 'none' };
  return { kind: 'many', routes: [...best, ...free.filter((other) => !best.includes(other))] };
}
