/** Checks of the state itself: that every row can be read and that what it refers to is there. */
import * as v from 'valibot';
import { BlobUnreadableError, parseReference } from '../blobFile.ts';
import { ChatUnreadableError } from '../errors.ts';
import { countMessages, listMessages } from '../messages.ts';
import { countSessions, getSession } from '../sessions.ts';
import type { ReadTransaction } from '../transaction.ts';

export interface RowReport {
  readonly faults: readonly string[];
  readonly sessions: number;
  readonly messages: number;
  /** Names of the blobs that rows name. */
  readonly blobs: ReadonlySet<string>;
}

interface Reference {
  readonly from: string;
  readonly to: string;
  readonly sql: string;
}

const references: readonly Reference[] = [
  {
    from: 'message',
    to: 'chat',
    sql: `SELECT id, session_id AS target FROM messages m WHERE NOT EXISTS(SELECT 1 FROM sessions s WHERE s.id = m.session_id)`,
  },
  {
    from: 'copied message',
    to: 'message',
    sql: `SELECT id, copy_of AS target FROM messages m WHERE copy_of IS NOT NULL AND NOT EXISTS(SELECT 1 FROM messages o WHERE o.id = m.copy_of)`,
  },
  {
    from: 'place',
    to: 'chat',
    sql: `SELECT key AS id, session_id AS target FROM routes r WHERE NOT EXISTS(SELECT 1 FROM sessions s WHERE s.id = r.session_id)`,
  },
  {
    from: 'chat',
    to: 'parent chat',
    sql: `SELECT id, parent_id AS target FROM sessions c WHERE parent_id IS NOT NULL AND NOT EXISTS(SELECT 1 FROM sessions s WHERE s.id = c.parent_id)`,
  },
  {
    from: 'lease',
    to: 'chat',
    sql: `SELECT session_id AS id, session_id AS target FROM leases l WHERE NOT EXISTS(SELECT 1 FROM sessions s WHERE s.id = l.session_id)`,
  },
];

const miscounted = `SELECT id, message_count AS counted, (SELECT count(*) FROM messages m WHERE m.session_id = s.id) AS actual FROM sessions s WHERE counted <> actual`;

const danglingSchema = v.object({ id: v.string(), target: v.string() });
const miscountSchema = v.object({
  id: v.string(),
  counted: v.union([v.number(), v.string()]),
  actual: v.number(),
});
const idSchema = v.object({ id: v.string() });

/** Never throws for what it finds: that goes into `faults`. */
export function checkRows(reader: ReadTransaction): RowReport {
  const dangling = references.flatMap(({ from, to, sql }) =>
    reader.all(sql).map((row) => {
      const { id, target } = v.parse(danglingSchema, row);
      return `The ${from} ${id} belongs to the ${to} ${target}, which is not there.`;
    }),
  );
  const counts = reader.all(miscounted).map((row) => {
    const { id, counted, actual } = v.parse(miscountSchema, row);
    return `The chat ${id} has ${actual} messages, but is listed with ${counted}.`;
  });
  const blobs = checkBlobs(reader);
  return {
    faults: [...dangling, ...counts, ...unreadableRows(reader), ...blobs.faults],
    blobs: blobs.names,
    sessions: countSessions(reader),
    messages: countMessages(reader),
  };
}

const blobsSchema = v.object({ id: v.string(), blob: v.string() });

/** Reads every blob that a row names, one at a time. */
function checkBlobs(reader: ReadTransaction): { faults: string[]; names: Set<string> } {
  const faults: string[] = [];
  const names = new Set<string>();
  for (const { what, sql } of blobOwners) {
    for (const row of reader.all(sql)) {
      const { id, blob } = v.parse(blobsSchema, row);
      names.add(parseReference(blob)?.name ?? blob);
      try {
        reader.readBlob(blob);
      } catch (error) {
        if (!(error instanceof BlobUnreadableError)) throw error;
        faults.push(`The ${what} ${id} cannot be read: ${error.message}.`);
      }
    }
  }
  return { faults, names };
}

const blobOwners = [
  { what: 'message', sql: 'SELECT id, blob FROM messages WHERE blob IS NOT NULL ORDER BY id' },
  { what: 'draft', sql: 'SELECT key AS id, blob FROM drafts WHERE blob IS NOT NULL ORDER BY key' },
];

function unreadableRows(reader: ReadTransaction): string[] {
  const faults: string[] = [];
  for (const row of reader.all('SELECT id FROM sessions ORDER BY id')) {
    const { id } = v.parse(idSchema, row);
    const attempt = (what: string, read: () => unknown): void => {
      try {
        read();
      } catch (error) {
        if (error instanceof ChatUnreadableError) faults.push(error.message);
        else
          faults.push(
            `${what} ${id} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
          );
      }
    };
    attempt('The chat', () => getSession(reader, id));
    attempt('A message of the chat', () => listMessages(reader, id, { contents: 'leave' }));
  }
  return faults;
}
