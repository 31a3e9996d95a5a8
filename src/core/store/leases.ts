/**
 * Proof across windows that one runtime may write one session. The row stays when a lease is released, so its epoch only
 * ever grows: a write with an old epoch is refused for good.
 */
import * as v from 'valibot';
import { SessionNotOwnedError } from './errors.ts';
import type { ReadTransaction, Row, WriteTransaction } from './transaction.ts';

const leaseSchema = v.object({
  sessionId: v.string(),
  runtimeId: v.string(),
  windowId: v.string(),
  epoch: v.number(),
  /** Unix time in milliseconds. */
  acquiredAt: v.number(),
  /** False once it was released. */
  isHeld: v.boolean(),
});
export type Lease = Readonly<v.InferOutput<typeof leaseSchema>>;

const columns = 'session_id, runtime_id, window_id, epoch, acquired_at, is_held';

function toLease(row: Row): Lease {
  return v.parse(leaseSchema, {
    sessionId: row['session_id'],
    runtimeId: row['runtime_id'],
    windowId: row['window_id'],
    epoch: row['epoch'],
    acquiredAt: row['acquired_at'],
    isHeld: row['is_held'] === 1,
  });
}

/** The last lease of the session, released or not; null: never written by a runtime. */
export function getLease(reader: ReadTransaction, sessionId: string): Lease | null {
  const row = reader.get(`SELECT ${columns} FROM leases WHERE session_id = ?`, [sessionId]);
  return row === undefined ? null : toLease(row);
}

/** Leases that are held. */
export function listLeases(reader: ReadTransaction): Lease[] {
  return reader.all(`SELECT ${columns} FROM leases WHERE is_held = 1 ORDER BY session_id`).map(toLease);
}

export interface LeaseRequest {
  readonly sessionId: string;
  readonly runtimeId: string;
  readonly windowId: string;
  readonly now: number;
  /** A window of which it is not known counts as alive. */
  readonly isWindowAlive: (windowId: string) => boolean;
}

/**
 * Takes the lease if it is free, ours, or of a dead window. Returns it: the same epoch if the runtime held it already, else
 * one more. Throws SessionNotOwnedError if a live runtime holds it.
 */
export function acquireLease(writer: WriteTransaction, request: LeaseRequest): Lease {
  const held = getLease(writer, request.sessionId);
  if (held?.isHeld === true) {
    const isOurs = held.runtimeId === request.runtimeId && held.windowId === request.windowId;
    if (isOurs) return held;
    if (request.isWindowAlive(held.windowId)) throw new SessionNotOwnedError(request.sessionId);
  }
  return replaceLease(writer, request, held);
}

/** Takes the lease from whoever holds it: **Take over here**, the user's explicit wish. */
export function takeOverLease(writer: WriteTransaction, request: Omit<LeaseRequest, 'isWindowAlive'>): Lease {
  return replaceLease(writer, request, getLease(writer, request.sessionId));
}

/** Whether a live runtime other than this one holds the lease: then the row is not ours to end. */
export function isHeldByOther(
  reader: ReadTransaction,
  sessionId: string,
  runtimeId: string,
  isWindowAlive: (windowId: string) => boolean,
): boolean {
  const held = getLease(reader, sessionId);
  return held?.isHeld === true && held.runtimeId !== runtimeId && isWindowAlive(held.windowId);
}

/** Whether this lease still holds: nobody took it over, and the chat was not archived. */
export function holdsLease(reader: ReadTransaction, lease: Lease): boolean {
  const held = getLease(reader, lease.sessionId);
  return held?.isHeld === true && held.epoch === lease.epoch && held.runtimeId === lease.runtimeId;
}

/** First thing in every transaction of a runtime. Throws SessionNotOwnedError if the lease is not this one any more. */
export function guardLease(reader: ReadTransaction, lease: Lease): void {
  if (!holdsLease(reader, lease)) throw new SessionNotOwnedError(lease.sessionId);
}

/** Lets go if it is still ours; does nothing otherwise. */
export function releaseLease(writer: WriteTransaction, lease: Lease): void {
  const held = getLease(writer, lease.sessionId);
  if (held?.isHeld !== true || held.epoch !== lease.epoch) return;
  writer.run('UPDATE leases SET is_held = 0 WHERE session_id = ?', [lease.sessionId]);
}

/**
 * Takes the lease away from whoever holds it, unless that is `keep`: the user archived the chat, and a window that still
 * writes it is refused from now on. Returns whether somebody lost it.
 */
export function revokeLease(writer: WriteTransaction, sessionId: string, keep: Lease | null): boolean {
  const held = getLease(writer, sessionId);
  if (held?.isHeld !== true) return false;
  const isKept =
    keep !== null &&
    keep.sessionId === sessionId &&
    keep.epoch === held.epoch &&
    keep.runtimeId === held.runtimeId;
  if (isKept) return false;
  releaseLease(writer, held);
  return true;
}

/** Moves the lease to the row that goes on with the chat after a compaction. Throws SessionNotOwnedError. */
export function moveLease(writer: WriteTransaction, lease: Lease, sessionId: string, now: number): Lease {
  guardLease(writer, lease);
  releaseLease(writer, lease);
  const { runtimeId, windowId } = lease;
  return replaceLease(writer, { sessionId, runtimeId, windowId, now }, getLease(writer, sessionId));
}

function replaceLease(
  writer: WriteTransaction,
  request: Omit<LeaseRequest, 'isWindowAlive'>,
  held: Lease | null,
): Lease {
  const lease: Lease = {
    sessionId: request.sessionId,
    runtimeId: request.runtimeId,
    windowId: request.windowId,
    epoch: (held?.epoch ?? 0) + 1,
    acquiredAt: request.now,
    isHeld: true,
  };
  writer.run(
    'INSERT OR REPLACE INTO leases(session_id, runtime_id, window_id, epoch, acquired_at, is_held) VALUES(?, ?, ?, ?, ?, 1)',
    [lease.sessionId, lease.runtimeId, lease.windowId, lease.epoch, lease.acquiredAt],
  );
  return lease;
}
