/** What a panel's page sends to the extension host; every message is parsed with this schema before it is used. */
import * as v from 'valibot';
import { draftSchema } from '../session/model.ts';

/**
 * What a page keeps in the webview state (`setState`), so that a reload finds its chat even before the host answers.
 * `words` guards the newest keystrokes: text typed since the host last confirmed a draft.
 */
export const pageStateSchema = v.object({
  panelId: v.string(),
  sessionId: v.string(),
  draft: draftSchema,
});
export type PageState = Readonly<v.InferOutput<typeof pageStateSchema>>;

export const pageMessageSchema = v.variant('type', [
  /** The page is up, or saw a gap: it wants a snapshot. `draft`: what its state held, null if nothing. */
  v.object({ type: v.literal('ready'), draft: v.nullable(draftSchema) }),
  /** `messageId` is a ULID made by the page, so that a repeated send adds nothing. */
  v.object({ type: v.literal('send'), messageId: v.string(), text: v.string() }),
  v.object({ type: v.literal('stop') }),
  v.object({ type: v.literal('retry') }),
  v.object({ type: v.literal('continue') }),
  /** Retries saving what is not saved. */
  v.object({ type: v.literal('saveAgain') }),
  v.object({ type: v.literal('draft'), draft: draftSchema }),
  v.object({ type: v.literal('loadOlder') }),
  v.object({ type: v.literal('archive') }),
  v.object({ type: v.literal('reopen') }),
  v.object({ type: v.literal('newChat') }),
  v.object({ type: v.literal('selectModel'), modelId: v.string() }),
  v.object({ type: v.literal('openSettings') }),
  /** A link of the transcript: an http(s) or mailto address, or a workspace path with an optional `:line` or `#Lline`. */
  v.object({ type: v.literal('openLink'), href: v.string() }),
  v.object({ type: v.literal('copy'), text: v.string() }),
  v.object({ type: v.literal('reloadWindow') }),
  v.object({ type: v.literal('ping'), nonce: v.number() }),
]);
export type PageMessage = Readonly<v.InferOutput<typeof pageMessageSchema>>;
