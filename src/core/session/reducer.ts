/**
 * The one pure function that turns events into what a chat looks like, run by the host and by every page.
 * An event for a message that is not there is ignored, never thrown on: a page may join in the middle.
 */
import * as v from 'valibot';
import { forkSchema, ownerSchema, turnSchema, type ChatEvent } from './events.ts';
import { messageSchema, problemSchema, sessionSchema, type Message, type Session } from './model.ts';

export const chatStateSchema = v.object({
  session: sessionSchema,
  /** The chat's transcript as shown, oldest first; possibly only its end (`hasOlder`). */
  messages: v.array(messageSchema),
  hasOlder: v.boolean(),
  /** Ids of messages that are not known to be on disk, whole. */
  unsaved: v.array(v.string()),
  turn: v.nullable(turnSchema),
  owner: ownerSchema,
  /** Of a chat that is read from another chat folder: which. It is nobody's to write here. Null: the window's own. */
  folder: v.nullable(v.string()),
  /** From the beginning of the chat to its end. */
  forks: v.array(forkSchema),
  /** Why saving fails at the moment. */
  savingProblem: v.nullable(problemSchema),
});
export type ChatState = Readonly<v.InferOutput<typeof chatStateSchema>>;

/** A chat as loaded from the store: everything there is durable. */
export function makeChatState(
  session: Session,
  messages: readonly Message[] = [],
  folder: string | null = null,
): ChatState {
  return {
    session,
    messages: [...messages],
    hasOlder: false,
    unsaved: [],
    turn: null,
    owner: folder === null ? 'here' : 'elsewhere',
    folder,
    forks: [],
    savingProblem: null,
  };
}

export function reduce(state: ChatState, event: ChatEvent): ChatState {
  switch (event.type) {
    case 'messageAdded':
      return addMessage(state, event.message);
    case 'textAppended':
      return streaming(
        changeMessage(state, event.id, (message) => ({ ...message, text: message.text + event.text })),
      );
    case 'reasoningAppended':
      return streaming(
        changeMessage(state, event.id, (message) => ({
          ...message,
          reasoning: message.reasoning + event.text,
        })),
      );
    case 'toolCallAdded':
      return streaming(
        changeMessage(state, event.id, (message) => ({
          ...message,
          toolCalls: [...message.toolCalls, event.call],
        })),
      );
    case 'messageFinished':
      return changeMessage(state, event.id, (message) => ({
        ...message,
        status: event.status,
        problem: event.problem,
        usage: event.usage ?? message.usage,
        finishedAt: event.finishedAt,
      }));
    case 'messagesSuperseded':
      return {
        ...state,
        messages: state.messages.map((message) =>
          event.ids.includes(message.id) ? { ...message, active: false } : message,
        ),
      };
    case 'messagesSaved':
      return { ...state, unsaved: state.unsaved.filter((id) => !event.ids.includes(id)) };
    case 'savingChanged':
      return { ...state, savingProblem: event.problem };
    case 'sessionChanged':
      return { ...state, session: event.session };
    case 'turnStarted':
      return { ...state, turn: event.turn };
    case 'turnStopping':
      return state.turn === null ? state : { ...state, turn: { ...state.turn, phase: 'stopping' } };
    case 'turnEnded':
      return { ...state, turn: null };
    case 'ownerChanged':
      return { ...state, owner: event.owner };
    case 'forksChanged':
      return { ...state, forks: event.forks };
    case 'olderLoaded':
      return addOlder(state, event.messages, event.hasOlder);
  }
}

function addMessage(state: ChatState, message: Message): ChatState {
  if (state.messages.some((known) => known.id === message.id)) return state;
  return { ...state, messages: [...state.messages, message], unsaved: [...state.unsaved, message.id] };
}

function addOlder(state: ChatState, older: readonly Message[], hasOlder: boolean): ChatState {
  const known = new Set(state.messages.map((message) => message.id));
  return {
    ...state,
    messages: [...older.filter((message) => !known.has(message.id)), ...state.messages],
    hasOlder,
  };
}

/** Changes are nearly always to one of the last messages, so the search runs from the end. */
function changeMessage(state: ChatState, id: string, change: (message: Message) => Message): ChatState {
  const index = state.messages.findLastIndex((message) => message.id === id);
  const message = state.messages[index];
  if (message === undefined) return state;
  const messages = [...state.messages];
  messages[index] = change(message);
  const unsaved = state.unsaved.includes(id) ? state.unsaved : [...state.unsaved, id];
  return { ...state, messages, unsaved };
}

function streaming(state: ChatState): ChatState {
  if (state.turn === null || state.turn.phase !== 'waiting') return state;
  return { ...state, turn: { ...state.turn, phase: 'streaming' } };
}
