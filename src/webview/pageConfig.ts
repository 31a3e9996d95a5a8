/** What the host wrote into the page itself: enough for a first paint before anything was said. */
import * as v from 'valibot';
import { draftSchema, type Draft } from '../core/session/model.ts';

export interface PageConfig {
  readonly panelId: string;
  readonly sessionId: string;
  /** The draft as stored when the page was made; null if there was none. */
  readonly draft: Draft | null;
}

export function readPageConfig(element: HTMLElement): PageConfig {
  const { panelId = '', sessionId = '', draft } = element.dataset;
  return { panelId, sessionId, draft: parseDraft(draft) };
}

function parseDraft(json: string | undefined): Draft | null {
  if (json === undefined || json === '') return null;
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), draftSchema), json);
  return parsed.success ? parsed.output : null;
}
