/** What a chat is called where it is listed. */
import type { Session } from './model.ts';

/** Says that there are no words yet. */
export const untitled = 'New Chat';

/** The title, else the first words, else a name that says that there are none yet. */
export function chatTitle(session: Pick<Session, 'title' | 'preview'>): string {
  return session.title || session.preview || untitled;
}
