/**
 * Why sessions end. Cleanup is not intent: every set of reasons is one predicate here and nowhere else, because copies
 * of such sets drift apart and then a closed panel ends a chat.
 */
import type { EndReason, Session } from './model.ts';

/** Reasons raised by cleanup or accident, never by the user's wish to end the chat. */
export function isAutomatic(reason: EndReason): boolean {
  switch (reason) {
    case 'panel_closed':
    case 'orphan_reap':
    case 'idle_timeout':
    case 'lru_evict':
    case 'host_shutdown':
    case 'crash':
      return true;
    case 'archived':
    case 'session_reset':
    case 'compaction':
      return false;
  }
}

/** A row that ended for one of these may be reopened by healing. */
export function isRecoverable(reason: EndReason): boolean {
  return isAutomatic(reason);
}

/** Reasons after which this row is never the live end of its chat again unless the user reopens it; archive may not override them. */
export function isBoundary(reason: EndReason): boolean {
  switch (reason) {
    case 'session_reset':
    case 'compaction':
      return true;
    default:
      return false;
  }
}

/** Only the user's wish does this to a chat. */
export function isEndedByUser(reason: EndReason): boolean {
  return reason === 'archived' || reason === 'session_reset';
}

/** The user ended the chat: it is shown as archived and opens read-only. */
export function isArchived({ endReason }: Pick<Session, 'endReason'>): boolean {
  return endReason !== null && isEndedByUser(endReason);
}

/** Whether `reason` may replace what the row already says: the first reason stays, archive promotes over a recoverable one. */
export function mayEnd(session: Pick<Session, 'endReason'>, reason: EndReason): boolean {
  if (session.endReason === null) return true;
  return isEndedByUser(reason) && isRecoverable(session.endReason);
}

/**
 * Whether an automatic reason may end the row at all: never a panel's, and never one that a panel has shown.
 * `wasShownByPanel`: some panel route ever named the row.
 */
export function mayEndAutomatically(
  session: Pick<Session, 'source'>,
  runtimeIsPanel: boolean,
  wasShownByPanel: boolean,
): boolean {
  return !runtimeIsPanel && session.source !== 'panel' && !wasShownByPanel;
}
