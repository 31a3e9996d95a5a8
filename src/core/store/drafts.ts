/** What the user had typed and not sent, and how far they had scrolled. The key is the place: a session's or a route's. */
import * as v from 'valibot';
import { draftSchema, type Draft } from '../session/model.ts';
import type { ReadTransaction, WriteTransaction } from './transaction.ts';

export interface StoredDraft {
  readonly key: string;
  /** Null: of a place that shows no stored chat yet. */
  readonly sessionId: string | null;
  readonly draft: Draft;
}

export function saveDraft(writer: WriteTransaction, stored: StoredDraft): void {
  const { key, sessionId, draft } = stored;
  writer.run(
    'INSERT OR REPLACE INTO drafts(key, session_id, text, caret, scroll, edited_at) VALUES(?, ?, ?, ?, ?, ?)',
    [key, sessionId, draft.text, draft.caret, draft.scroll, draft.editedAt],
  );
}

/** Null: there is none. */
export function getDraft(reader: ReadTransaction, key: string): StoredDraft | null {
  const row = reader.get('SELECT session_id, text, caret, scroll, edited_at FROM drafts WHERE key = ?', [
    key,
  ]);
  if (row === undefined) return null;
  return {
    key,
    sessionId: v.parse(v.nullable(v.string()), row['session_id']),
    draft: v.parse(draftSchema, {
      text: row['text'],
      caret: row['caret'],
      scroll: row['scroll'],
      editedAt: row['edited_at'],
    }),
  };
}

/** The chat goes on in another row: what was typed goes along. A draft that is there already stays. */
export function moveDrafts(writer: WriteTransaction, from: string, to: string): void {
  writer.run('UPDATE OR IGNORE drafts SET key = ? WHERE key = ?', [to, from]);
  writer.run('UPDATE drafts SET session_id = ? WHERE session_id = ?', [to, from]);
}

export function deleteDraft(writer: WriteTransaction, key: string): void {
  writer.run('DELETE FROM drafts WHERE key = ?', [key]);
}
