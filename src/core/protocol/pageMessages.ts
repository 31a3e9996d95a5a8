/** What a panel's page sends to the extension host; every message is parsed with this schema before it is used. */
import * as v from 'valibot';
import { draftSchema } from '../session/model.ts';

/** A prompt on its way: sent by the page, not yet seen in the transcript. */
const pendingPromptSchema = v.object({ messageId: v.string(), text: v.string() });
export type PendingPrompt = Readonly<v.InferOutput<typeof pendingPromptSchema>>;

/** Where the view stands: `offset` pixels below the top of this message. Holds when older pages or other widths change the pixels above. */
const scrollAnchorSchema = v.object({ messageId: v.string(), offset: v.number() });
export type ScrollAnchor = Readonly<v.InferOutput<typeof scrollAnchorSchema>>;

/**
 * What a page keeps in the webview state (`setState`): a reload finds its chat and the newest keystrokes by it, even
 * before the host answers. The fields with defaults are the page's own business; the host reads the others.
 */
export const pageStateSchema = v.object({
  panelId: v.string(),
  sessionId: v.string(),
  draft: draftSchema,
  /** Puts a prompt back into the composer when the page goes down before the host took it. */
  pending: v.optional(v.array(pendingPromptSchema), []),
  anchor: v.optional(v.nullable(scrollAnchorSchema), null),
});
export type PageState = Readonly<v.InferOutput<typeof pageStateSchema>>;

export const pageMessageSchema = v.variant('type', [
  /** The page is up, or saw a gap: it wants a snapshot. `draft`: what its state held, null if nothing. */
  v.object({ type: v.literal('ready'), draft: v.nullable(draftSchema) }),
  /**
   * `messageId` is a ULID made by the page, so that a repeated send adds nothing. `evenUnsaved`: the user chose to send it though
   * it cannot be saved now.
   */
  v.object({
    type: v.literal('send'),
    messageId: v.string(),
    text: v.string(),
    evenUnsaved: v.boolean(),
  }),
  v.object({ type: v.literal('stop') }),
  v.object({ type: v.literal('retry') }),
  v.object({ type: v.literal('continue') }),
  /** Retries saving what is not saved. */
  v.object({ type: v.literal('saveAgain') }),
  v.object({ type: v.literal('draft'), draft: draftSchema }),
  /** The browser's storage holds unsent words of these chats, from this page or another one: are they all still there? */
  v.object({ type: v.literal('keptWords'), sessionIds: v.array(v.string()) }),
  /** Wants the page of messages before this one, the oldest it has. */
  v.object({ type: v.literal('loadOlder'), before: v.string() }),
  v.object({ type: v.literal('archive') }),
  v.object({ type: v.literal('reopen') }),
  /** Writes the chat here from now on, though another window does. */
  v.object({ type: v.literal('takeOver') }),
  /** Wants a chat of its own that ends with this message (null: with the last one), in a panel of its own. */
  v.object({ type: v.literal('branch'), messageId: v.nullable(v.string()) }),
  /** Wants a branch that ends before this prompt, and another prompt sent in it. The ids are ULIDs made by the page. */
  v.object({
    type: v.literal('editAndResend'),
    messageId: v.string(),
    branchId: v.string(),
    promptId: v.string(),
    text: v.string(),
  }),
  /** Wants to see another chat in the place of this one. */
  v.object({ type: v.literal('showChat'), sessionId: v.string() }),
  /** Copies the chat from the other folder it is read from into the window's own. */
  v.object({ type: v.literal('bringIn') }),
  v.object({ type: v.literal('newChat') }),
  /** The user's answer to `chooseChat`; null: none of them, a new chat. */
  v.object({ type: v.literal('chooseChat'), sessionId: v.nullable(v.string()) }),
  v.object({ type: v.literal('archiveAndStartNew') }),
  v.object({ type: v.literal('compact') }),
  v.object({ type: v.literal('selectModel'), modelId: v.string() }),
  v.object({ type: v.literal('openSettings') }),
  /** A link of the transcript: an http(s) or mailto address, or a workspace path with an optional `:line` or `#Lline`. */
  v.object({ type: v.literal('openLink'), href: v.string() }),
  v.object({ type: v.literal('copy'), text: v.string() }),
  v.object({ type: v.literal('reloadWindow') }),
  v.object({ type: v.literal('ping'), nonce: v.number() }),
]);
export type PageMessage = Readonly<v.InferOutput<typeof pageMessageSchema>>;
