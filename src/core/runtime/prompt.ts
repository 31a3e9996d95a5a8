/** What the store gets of a prompt, in one transaction: its row, and what it says about the chat. */
import { offlineGuideId } from '../models/offlineGuide.ts';
import type { Draft, Message, Session } from '../session/model.ts';
import { firstWords } from '../session/text.ts';
import { saveDraft } from '../store/drafts.ts';
import { insertMessage } from '../store/messages.ts';
import { requireSession, updateSession } from '../store/sessions.ts';
import type { WriteTransaction } from '../store/transaction.ts';

const titleLength = 60;

/** The changes that title a chat after its prompt. */
export interface Titled {
  readonly title: string;
  readonly titleSource: 'auto';
}

export interface Prompt {
  readonly message: Message;
  readonly titled: Titled | null;
  /** Of whom the answer is asked. */
  readonly modelId: string;
  /** What is left in the composer. */
  readonly draft: Draft;
}

/** Null: the chat has a title, or the prompt gives none. */
export function titledBy(text: string, { titleSource }: Pick<Session, 'titleSource'>): Titled | null {
  const title = firstWords(text, titleLength);
  return titleSource === 'none' && title !== '' ? { title, titleSource: 'auto' } : null;
}

/** Throws UnknownSessionError if the prompt's chat is not stored. */
export function storePrompt(writer: WriteTransaction, { message, titled, modelId, draft }: Prompt): void {
  const { sessionId } = message;
  insertMessage(writer, message);
  const stored = requireSession(writer, sessionId);
  // The user may have renamed it in another window since.
  if (titled !== null && stored.titleSource === 'none') updateSession(writer, sessionId, titled);
  // From here on the chat stays with its model, whatever becomes the default. The offline guide is only a stopgap.
  if (stored.modelId === null && modelId !== offlineGuideId) updateSession(writer, sessionId, { modelId });
  saveDraft(writer, { key: sessionId, sessionId, draft });
}
