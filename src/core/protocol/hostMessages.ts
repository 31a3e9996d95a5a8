/**
 * What the extension host sends to a panel's page. Delivery is assumed lossy: events carry numbers, and a page that sees
 * a gap asks for a snapshot with `ready`.
 */
import * as v from 'valibot';
import { chatEventSchema } from '../session/events.ts';
import { draftSchema, problemSchema } from '../session/model.ts';
import { chatStateSchema } from '../session/reducer.ts';

/** A model the user can pick. `id` is `provider/model` or `offline`. */
const modelChoiceSchema = v.object({ id: v.string(), name: v.string(), detail: v.string() });

const modelPickerSchema = v.object({
  choices: v.array(modelChoiceSchema),
  selectedId: v.string(),
  /** Settings that could not be used, as a sentence; null when all is well. */
  problem: v.nullable(v.string()),
});
export type ModelPicker = Readonly<v.InferOutput<typeof modelPickerSchema>>;

/** The whole state at `seq` of runtime `runtimeId`; replaces what the page had, unless that is newer. */
const snapshot = v.object({
  type: v.literal('snapshot'),
  runtimeId: v.string(),
  seq: v.number(),
  chat: chatStateSchema,
  draft: draftSchema,
  models: modelPickerSchema,
});
/** The next event of that runtime; `seq` is one more than the last, except for `olderLoaded`, which repeats it. */
const event = v.object({
  type: v.literal('event'),
  runtimeId: v.string(),
  seq: v.number(),
  event: chatEventSchema,
});
const models = v.object({ type: v.literal('models'), models: modelPickerSchema });
/**
 * The prompt `messageId` was not taken; the page puts its text back into the composer. `canSendAnyway`: only saving it failed,
 * and the user may send it all the same.
 */
const sendRejected = v.object({
  type: v.literal('sendRejected'),
  messageId: v.string(),
  problem: problemSchema,
  canSendAnyway: v.boolean(),
});
/** The chat cannot be shown or written at all (store unreadable, folder not writable, …). */
const unavailable = v.object({ type: v.literal('unavailable'), problem: problemSchema });
/** A panel that lost its state, and may have shown any of these chats: the user says which. Never an empty chat in its place. */
const chooseChat = v.object({
  type: v.literal('chooseChat'),
  choices: v.array(v.object({ sessionId: v.string(), title: v.string(), detail: v.string() })),
});
/** A passing sentence for the user, about something they just did. */
const notice = v.object({ type: v.literal('notice'), message: v.string() });
/** These chats were deleted: no copy of words of theirs may stay. */
const forgetWords = v.object({ type: v.literal('forgetWords'), sessionIds: v.array(v.string()) });
const pong = v.object({ type: v.literal('pong'), nonce: v.number() });
/** The editor asks the page to put the caret into the composer. */
const focusComposer = v.object({ type: v.literal('focusComposer') });

export const hostMessageSchema = v.variant('type', [
  snapshot,
  event,
  models,
  sendRejected,
  unavailable,
  chooseChat,
  notice,
  forgetWords,
  pong,
  focusComposer,
]);
export type HostMessage = Readonly<v.InferOutput<typeof hostMessageSchema>>;
