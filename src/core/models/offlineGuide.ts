/**
 * The built-in model that needs no key and no network: it answers a question by searching the open workspace with the
 * same tools a language model would call, through the same loop, and shows the code it found. It keeps no state; where
 * it stands follows from the messages after the last prompt.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ChatModel, ModelEvent, ModelRequest } from './chatModel.ts';
import { nextStep } from './guidePlan.ts';

export const offlineGuideId = 'offline';
export const offlineGuideName = 'Offline guide';

/** `paceMs`: rest between two pieces of an answer, in milliseconds; long enough to be seen as a stream. */
export function makeOfflineGuide(options: { readonly paceMs?: number } = {}): ChatModel {
  const paceMs = options.paceMs ?? 15;
  return {
    id: offlineGuideId,
    name: offlineGuideName,
    async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
      const step = nextStep(request);
      if (step.kind === 'calls') {
        for (const call of step.calls) yield { type: 'toolCall', call };
      } else {
        for (const text of toPieces(step.markdown)) {
          // Rejects when the signal aborts, which ends the stream at once.
          if (paceMs > 0) await pause(paceMs, undefined, { signal });
          signal.throwIfAborted();
          yield { type: 'text', text };
        }
      }
      yield { type: 'finish', usage: null };
    },
  };
}

/** A few words at a time, white space included. */
function toPieces(markdown: string): string[] {
  return markdown.match(/(?:\s*\S+){1,4}\s*/g) ?? [];
}
