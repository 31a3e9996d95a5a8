/** Test data of the store. */
import * as path from 'node:path';
import { ulid } from 'ulid';
import { makeMessage, makeSession, type Message, type Session } from '../../../../src/core/session/model.ts';

export const wasmFile = path.resolve(
  import.meta.dirname,
  '../../../../node_modules/sql.js/dist/sql-wasm.wasm',
);

export function aSession(overrides: Partial<Session> = {}): Session {
  return makeSession({ id: ulid(), source: 'panel', createdAt: 1_000, ...overrides });
}

export function aMessage(sessionId: string, overrides: Partial<Message> = {}): Message {
  return makeMessage({
    id: ulid(),
    sessionId,
    seq: 0,
    role: 'user',
    createdAt: 2_000,
    text: 'Hello',
    ...overrides,
  });
}
