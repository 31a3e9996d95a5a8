/** The chats that `recall` looks through, read from the store: those of the asking chat's workspace, archived ones too. */
import type { Message, Session } from '../session/model.ts';
import { chatTitle } from '../session/title.ts';
import { rootOf } from '../store/lineage.ts';
import { getMemory } from '../store/memories.ts';
import { getMessage, withContents } from '../store/messages.ts';
import { listSessions } from '../store/sessions.ts';
import type { Store } from '../store/store.ts';
import { displayMessages } from '../store/transcript.ts';
import type { ReadTransaction } from '../store/transaction.ts';
import type { EarlierChat, EarlierChats, EarlierMessages } from '../tools/recall.ts';
import { digestId } from './memory.ts';

export class StoredChats implements EarlierChats {
  readonly #store: Store;
  readonly #asking: Session;

  /** `asking`: the chat that wants to know. */
  constructor(store: Store, asking: Session) {
    this.#store = store;
    this.#asking = asking;
  }

  list(limit: number): readonly EarlierChat[] | null {
    const { id, workspaceUri } = this.#asking;
    if (workspaceUri === null) return null;
    return this.#store.read((reader) => {
      const root = rootOf(reader, id);
      return listSessions(reader, { workspaceUri, limit })
        .filter((session) => rootOf(reader, session.id) !== root)
        .map((session) => ({
          id: session.id,
          title: chatTitle(session),
          lastActivityAt: session.lastActivityAt,
          memory: getMemory(reader, digestId(reader, session.id))?.text ?? null,
        }));
    });
  }

  page(chatId: string, before: string | null, limit: number): EarlierMessages {
    return this.#store.read((reader) => {
      const { messages, hasOlder } = displayMessages(reader, chatId, { before, limit, contents: 'leave' });
      const said = messages.filter((message) => isSaid(reader, message));
      return {
        messages: said.reverse().map((message) => ({
          author: message.role === 'user' ? 'user' : 'assistant',
          text: () => this.#store.read((later) => withContents(later, message).text),
        })),
        next: hasOlder ? (messages[0]?.id ?? null) : null,
      };
    });
  }
}

/** Words of user or assistant that still stand. What a branch copied is said where it was copied from. */
function isSaid(reader: ReadTransaction, { role, active, status, copyOf }: Message): boolean {
  if ((role !== 'user' && role !== 'assistant') || !active || status === 'not_sent') return false;
  return copyOf === null || getMessage(reader, copyOf, 'leave') === null;
}
