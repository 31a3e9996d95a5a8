/** **Branch from here**, and **Edit and resend**: a chat of its own out of another, which stays as it is. */
import { emptyDraft } from '../session/model.ts';
import { branchSession, type Cut } from '../store/branch.ts';
import { saveDraft } from '../store/drafts.ts';
import { getSession } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import type { ReadTransaction } from '../store/transaction.ts';
import { displayMessages } from '../store/transcript.ts';
import { RefusedError } from './problems.ts';
import type { RuntimeRegistry } from './registry.ts';

export interface BranchRequest {
  /** Any row of the chat, whoever writes it, archived or not. */
  readonly sessionId: string;
  /** One that the chat shows; null: its last one. */
  readonly messageId: string | null;
  readonly cut: Cut;
  /** The id of the branch, chosen by whoever asks: asking again makes no second one. */
  readonly id: string;
  /** What the composer of the branch holds: the prompt to be sent there, so that it is on disk before anything can fail. */
  readonly text: string;
}

export interface BranchServices {
  readonly store: Store;
  readonly registry: RuntimeRegistry;
  readonly newId: () => string;
  /** Unix time in milliseconds. */
  readonly now: () => number;
}

/**
 * Makes the branch; it is on disk when this resolves. Rejects with a RefusedError when the chat is empty, and with StoreErrors;
 * then there is no branch.
 */
export async function branchChat(services: BranchServices, request: BranchRequest): Promise<void> {
  const { store, registry, newId, now } = services;
  const { sessionId, cut, id, text } = request;
  await registry.get(sessionId)?.flush(); // what is only in memory yet is to be in the branch
  await store.write((writer) => {
    if (getSession(writer, id) !== null) return;
    const messageId = request.messageId ?? lastMessage(writer, sessionId);
    branchSession(writer, { sessionId, messageId, cut, id, newId, now: now() });
    if (text === '') return;
    const draft = { ...emptyDraft, text, caret: text.length, editedAt: now() };
    saveDraft(writer, { key: id, sessionId: id, draft });
  });
  registry.lookAtForks();
}

function lastMessage(reader: ReadTransaction, sessionId: string): string {
  const [last] = displayMessages(reader, sessionId, { limit: 1 }).messages;
  if (last === undefined) {
    throw new RefusedError('nothing_to_do', 'There is nothing to branch from yet: this chat is empty.');
  }
  return last.id;
}
