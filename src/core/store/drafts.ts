/** What the user had typed and not sent, and how far they had scrolled. The key is the place: a session's or a route's. */
import * as v from 'valibot';
import { draftSchema, type Draft } from '../session/model.ts';
import { unreadableContents } from '../session/text.ts';
import { BlobUnreadableError } from './blobFile.ts';
import { fitsInFrame } from './frame.ts';
import type { ContentsWish } from './messageContents.ts';
import type { ReadTransaction, Row, Value, WriteTransaction } from './transaction.ts';

export interface StoredDraft {
  readonly key: string;
  /** Null: of a place that shows no stored chat yet. */
  readonly sessionId: string | null;
  readonly draft: Draft;
}

export function saveDraft(writer: WriteTransaction, stored: StoredDraft): void {
  const { key, sessionId, draft } = stored;
  const isLarge = !fitsInFrame([draft.text], writer.room);
  const [blob, text] = isLarge ? [writer.keepBlob([draft.text]), ''] : [null, draft.text];
  writer.run(
    'INSERT OR REPLACE INTO drafts(key, session_id, blob, text, caret, scroll, edited_at) VALUES(?, ?, ?, ?, ?, ?, ?)',
    [key, sessionId, blob, text, draft.caret, draft.scroll, draft.editedAt],
  );
}

/**
 * Null: there is none. One that cannot be read says so in the place of its text, never silently an empty one; if it is required,
 * BlobUnreadableError is thrown.
 */
export function getDraft(
  reader: ReadTransaction,
  key: string,
  wish: Exclude<ContentsWish, 'leave'> = 'read',
): StoredDraft | null {
  const row = reader.get(
    'SELECT session_id, blob, text, caret, scroll, edited_at FROM drafts WHERE key = ?',
    [key],
  );
  if (row === undefined) return null;
  return {
    key,
    sessionId: v.parse(v.nullable(v.string()), row['session_id']),
    draft: v.parse(draftSchema, {
      text: textOf(reader, row, wish),
      caret: row['caret'],
      scroll: row['scroll'],
      editedAt: row['edited_at'],
    }),
  };
}

function textOf(
  reader: ReadTransaction,
  { blob, text }: Row,
  wish: Exclude<ContentsWish, 'leave'>,
): Value | undefined {
  if (typeof blob !== 'string') return text;
  try {
    return reader.readBlob(blob)[0];
  } catch (error) {
    if (wish === 'require' || !(error instanceof BlobUnreadableError)) throw error;
    return unreadableContents;
  }
}

/** The chat goes on in another row: what was typed goes along. A draft that is there already stays. */
export function moveDrafts(writer: WriteTransaction, from: string, to: string): void {
  writer.run('UPDATE OR IGNORE drafts SET key = ? WHERE key = ?', [to, from]);
  writer.run('UPDATE drafts SET session_id = ? WHERE session_id = ?', [to, from]);
}

export function deleteDraft(writer: WriteTransaction, key: string): void {
  writer.run('DELETE FROM drafts WHERE key = ?', [key]);
}
