/** Messages whose chat's row was lost with a part of the journal: their chat is listed again, with a row made from them. */
import * as v from 'valibot';
import { makeSession } from '../session/model.ts';
import { firstWords } from '../session/text.ts';
import { isDeleted } from './deletion.ts';
import { previewLength } from './messages.ts';
import { insertSession } from './sessions.ts';
import type { NumberedWriter } from './transaction.ts';

const orphanSchema = v.object({
  id: v.string(),
  first: v.number(),
  last: v.number(),
  count: v.number(),
  prompt: v.nullable(v.string()),
});

const orphans = `SELECT session_id AS id, min(created_at) AS first, max(created_at) AS last, count(*) AS count,
  (SELECT content FROM messages p WHERE p.session_id = m.session_id AND p.role = 'user' ORDER BY p.seq LIMIT 1) AS prompt
  FROM messages m WHERE NOT EXISTS(SELECT 1 FROM sessions s WHERE s.id = m.session_id) GROUP BY session_id`;

/** Gives each of them a row of source `panel`, which no cleanup ends. What was deleted stays so. */
export function adoptOrphans(writer: NumberedWriter): void {
  for (const row of writer.all(orphans.replace(/\s+/g, ' '))) {
    const { id, first, last, count, prompt } = v.parse(orphanSchema, row);
    if (isDeleted(writer, id)) continue;
    insertSession(writer, makeSession({ id, source: 'panel', createdAt: first }));
    writer.run('UPDATE sessions SET message_count = ?, last_activity_at = ?, preview = ? WHERE id = ?', [
      count,
      last,
      firstWords(prompt ?? '', previewLength),
      id,
    ]);
  }
}
