/** What a chat is called where it is listed. */
import type { Session } from './model.ts';

/** The title, else the first words, else a name that says that there are none yet. */
export function chatTitle(session: Pick<Session, 'title' | 'preview'>): string {
  return session.title || session.preview || 'New Chat';
}
