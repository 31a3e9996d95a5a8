/**
 * Many rows of a transcript copied at once, inside the database: the journal holds no text twice, and a blob is named again in
 * the transaction that reads its name. The ids of the copies are made of that of their session and their numbers there.
 */
import * as v from 'valibot';
import { contentColumns } from './messageContents.ts';
import { columns, facts } from './messages.ts';
import type { Value, WriteTransaction } from './transaction.ts';

export interface CopiedRows {
  readonly from: string;
  /** Up to this number of `from`; null: all. */
  readonly through: number | null;
  /** Behind the rows that it has. */
  readonly to: string;
}

/** Copies rows for what they show. `withoutCopies`: those that are copies themselves stand for rows shown further up. */
export function copyAsShown(
  writer: WriteTransaction,
  rows: CopiedRows & { readonly withoutCopies: boolean },
): void {
  copyRows(writer, rows, { condition: rows.withoutCopies ? 'm.copy_of IS NULL' : '1', original: 'm.id' });
}

/** Copies what a model is given of a row of a chat: each as a copy of what is shown for it in `shownIn`. */
export function copyAsSent(writer: WriteTransaction, rows: CopiedRows & { readonly shownIn: string }): void {
  const shown = `SELECT o.id FROM messages o WHERE o.session_id = ? AND o.copy_of = coalesce(m.copy_of, m.id)`;
  copyRows(writer, rows, { condition: '1', original: `coalesce((${shown}), m.id)` }, [rows.shownIn]);
}

function copyRows(
  writer: WriteTransaction,
  { from, through, to }: CopiedRows,
  { condition, original }: { readonly condition: string; readonly original: string },
  originalParameters: readonly Value[] = [],
): void {
  const row = writer.get('SELECT coalesce(max(seq), 0) AS last FROM messages WHERE session_id = ?', [to]);
  const last = v.parse(v.number(), row?.['last']);
  const number = '(? + row_number() OVER (ORDER BY m.seq))';
  writer.run(
    `INSERT INTO messages(${columns}) SELECT ? || ':' || ${number}, ?, ${number}, ${original}, ${facts}, ${contentColumns} FROM messages m WHERE m.session_id = ? AND m.seq <= ? AND ${condition}`,
    [to, last, to, last, ...originalParameters, from, through ?? Number.MAX_SAFE_INTEGER],
  );
}

/** Takes up again the newest `count` rows of the session, which a retry had replaced. */
export function activateNewest(writer: WriteTransaction, sessionId: string, count: number): void {
  if (count === 0) return;
  writer.run(
    'UPDATE messages SET active = 1 WHERE session_id = ? AND seq > (SELECT max(seq) FROM messages WHERE session_id = ?) - ?',
    [sessionId, sessionId, count],
  );
}
