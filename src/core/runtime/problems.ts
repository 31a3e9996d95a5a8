/** Turns what went wrong into a sentence for the user that names the cause and the way out. */
import type { Problem } from '../session/model.ts';
import { StoreError } from '../store/errors.ts';
import type { Store } from '../store/store.ts';

/** A problem of the store, for the panel. Errors of other kinds are described by their own message. */
export function describeStoreProblem(error: unknown): Problem {
  if (error instanceof StoreError || error instanceof RefusedError) {
    return { reason: error.reason, message: error.message };
  }
  return { reason: 'unknown', message: `This could not be saved: ${messageOf(error)}` };
}

/** What the user is told once chats that could only be read can be written. */
export const writableAgain = 'The chats can be changed again.';

/** What the user is told where chats are shown that can only be read at the moment; null: they can be written. */
export function describeReadOnly({
  isReadOnly,
  folder,
}: Pick<Store, 'isReadOnly' | 'folder'>): string | null {
  if (!isReadOnly) return null;
  return `The chats can be read, but not changed: the chat storage folder ${folder} cannot be written to. Give yourself write permission for it, or choose another one in the settings.`;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether this runtime may not write its chat any more, whatever it tries: another window does, or the user ended it. */
export function isRefusedForGood(error: unknown): boolean {
  if (error instanceof RefusedError) return error.reason === 'archived' || error.reason === 'deleted';
  return error instanceof StoreError && error.reason === 'session_not_owned';
}

/** Whether only saving failed, for a cause outside of the chat that can go away: then the recorder's next try may succeed. */
export function mayBeSavedLater(error: unknown): boolean {
  return (
    error instanceof StoreError && ['full', 'write_failed', 'read_only', 'unavailable'].includes(error.reason)
  );
}

/** Something the user asked for that cannot be done now; `message` says why and what to do instead. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
  readonly reason:
    'archived' | 'deleted' | 'running' | 'empty' | 'not_found' | 'nothing_to_do' | 'not_owned' | 'not_saved';

  constructor(reason: RefusedError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

export function deletedError(): RefusedError {
  return new RefusedError('deleted', 'This chat was deleted. Start a new one to go on.');
}
