/**
 * What can go wrong with the store. Each error carries a `reason` for programs and a sentence for the user that names what
 * happened and the way out. Nobody matches messages by substring.
 */

export type StoreReason =
  | 'unavailable'
  | 'read_only'
  | 'full'
  | 'write_failed'
  | 'damaged'
  | 'replay_failed'
  | 'outdated'
  | 'too_large'
  | 'unreadable'
  | 'invalid_value'
  | 'invalid_statement'
  | 'unknown_session'
  | 'unknown_message'
  | 'session_not_owned'
  | 'bad_backup'
  | 'exists'
  | 'closed';

export class StoreError extends Error {
  readonly reason: StoreReason;

  constructor(reason: StoreReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.reason = reason;
  }
}

/** The folder cannot be used at all: not created, not listed, not read. */
export class StoreUnavailableError extends StoreError {
  constructor(folder: string, detail: string, cause?: unknown) {
    super(
      'unavailable',
      `The chat storage folder ${folder} cannot be used (${detail}). Check that the folder exists and belongs to you, or choose another one in the settings.`,
      cause,
    );
  }
}

/** The chats can be read, but nothing can be written. */
export class StoreReadOnlyError extends StoreError {
  constructor(folder: string, detail: string, cause?: unknown) {
    super(
      'read_only',
      `The chat storage folder ${folder} cannot be written to (${detail}), so nothing can be saved. Give yourself write permission for the folder, or choose another one in the settings.`,
      cause,
    );
  }
}

/** No space left (or the quota is used up). Nothing was changed; the same write may be tried again later. */
class StoreFullError extends StoreError {
  constructor(folder: string, cause?: unknown) {
    super(
      'full',
      `There is no space left on the disk of the chat storage folder ${folder}, so this was not saved. Free some space; saving is tried again.`,
      cause,
    );
  }
}

/** The system refused to write or to sync. Nothing that was not acknowledged may be taken for saved. */
export class StoreWriteError extends StoreError {
  constructor(folder: string, detail: string, cause?: unknown) {
    super(
      'write_failed',
      `Writing to the chat storage folder ${folder} failed (${detail}), so this was not saved. Check the disk; saving is tried again.`,
      cause,
    );
  }
}

/** Files of the store contradict each other. Nothing is appended before it is repaired. */
export class StoreDamagedError extends StoreError {
  constructor(file: string, detail: string, cause?: unknown) {
    super('damaged', `The chat storage file ${file} is damaged (${detail}).`, cause);
  }
}

/** A change that every window must make cannot be made here. It is never skipped: from there on this window only reads. */
export class StoreReplayError extends StoreError {
  constructor(seq: number, detail: string, cause?: unknown) {
    super(
      'replay_failed',
      `Change ${seq} of the chat storage cannot be read by this window (${detail}), so nothing can be saved here. Reload the window; if that does not help, update Holdfast.`,
      cause,
    );
  }
}

/** A newer version of the extension changed the format: in another window, or in one that was open before. */
export class StoreOutdatedError extends StoreError {
  constructor(access: 'reading' | 'writing') {
    super(
      'outdated',
      `A newer version of Holdfast changed how these chats are stored, so ${access} them is not possible with this version. Update Holdfast if it is not up to date, then reload the window.`,
    );
  }
}

/** A transaction too large for one frame of the journal. */
export class StoreTooLargeError extends StoreError {
  constructor(bytes: number, maximum: number) {
    super(
      'too_large',
      `A change of ${bytes} bytes cannot be saved in one piece; the limit is ${maximum} bytes.`,
    );
  }
}

/** A parameter that would not come back as it went in. A fault of the caller. */
export class StoreValueError extends StoreError {
  constructor(message: string) {
    super('invalid_value', message);
  }
}

/** A statement that may not be replayed by every window alike. A fault of the caller. */
export class StoreStatementError extends StoreError {
  constructor(message: string, sql: string) {
    super('invalid_statement', `${message}: ${sql}`);
  }
}

export class UnknownSessionError extends StoreError {
  readonly sessionId: string;

  constructor(sessionId: string) {
    super('unknown_session', `There is no chat with the id ${sessionId}.`);
    this.sessionId = sessionId;
  }
}

/** The message is not, or not yet, among those that the chat shows. */
export class UnknownMessageError extends StoreError {
  constructor() {
    super(
      'unknown_message',
      'This message is not on disk, so no branch can begin there. Try again when it is marked as saved.',
    );
  }
}

/** The row of a chat is there, but it, or all that belongs to it, cannot be read. It is never shown as empty instead. */
export class ChatUnreadableError extends StoreError {
  readonly sessionId: string;

  constructor(sessionId: string, detail: string) {
    super(
      'unreadable',
      `The chat ${sessionId} cannot be read (${detail}). Nothing of it was removed. Verify Store shows what is wrong; Bring In Chats adds messages that are missing from a backup.`,
    );
    this.sessionId = sessionId;
  }
}

/** Another runtime holds the lease of this session (or took it over since). */
export class SessionNotOwnedError extends StoreError {
  readonly sessionId: string;

  constructor(sessionId: string) {
    super('session_not_owned', `Another window is writing to the chat ${sessionId}.`);
    this.sessionId = sessionId;
  }
}

/** The store was closed; whoever still writes forgot to stop first. */
export class StoreClosedError extends StoreError {
  constructor() {
    super('closed', 'The chat storage of this window is closed.');
  }
}

/** The `code` of an error of the system (`ENOSPC`), or null for any other value. */
export function systemErrorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null;
  return error.code;
}

const noSpaceCodes: ReadonlySet<string | null> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Whether the disk is full or a quota used up, whoever says so. */
export function isNoSpace(error: unknown): boolean {
  return error instanceof StoreError ? error.reason === 'full' : noSpaceCodes.has(systemErrorCode(error));
}

const forbiddenCodes: ReadonlySet<string | null> = new Set(['EACCES', 'EPERM', 'EROFS']);

/** Whether the system does not let us write there. */
export function isForbidden(error: unknown): boolean {
  return forbiddenCodes.has(systemErrorCode(error));
}

const heldCodes: ReadonlySet<string | null> = new Set(['EACCES', 'EBUSY', 'EPERM']);

/** Whether the system does not let go of a file: Windows neither deletes nor renames one that a process has open. */
export function isHeldOpen(error: unknown): boolean {
  return heldCodes.has(systemErrorCode(error));
}

/** For a write that took less than it was given: the system's own error comes with the next one only. */
export function noSpaceError(detail: string): Error {
  return Object.assign(new Error(detail), { code: 'ENOSPC' });
}

/** Turns an error of a write or sync into the StoreError that tells the user what to do. */
export function toWriteError(folder: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (isNoSpace(error)) return new StoreFullError(folder, error);
  const code = systemErrorCode(error);
  if (!isForbidden(error)) return new StoreWriteError(folder, code ?? String(error), error);
  const detail = code === 'EROFS' ? 'its disk is read-only' : 'no write permission';
  return new StoreReadOnlyError(folder, detail, error);
}
