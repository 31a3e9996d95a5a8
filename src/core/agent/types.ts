/**
 * What a turn needs and promises. A turn answers one prompt: it asks the model, runs the tools it calls, and asks again
 * until the model is done.
 *
 * Promises, which the runtime and the tests rely on:
 * - It never throws. However the model or a tool fails, the turn ends with exactly one `turnEnded`, as its last event,
 *   whose stop reason is also what the promise resolves to.
 * - Every row it added has left `streaming` before `turnEnded`; a row's text is announced only between its
 *   `messageAdded` and its `messageFinished`.
 * - No announced piece of text ends inside a surrogate pair, and none holds half of one.
 * - After `signal` aborts it ends without waiting for a model or a tool that ignores the signal.
 * - Texts of errors are in `problem` only, never in a row's text, so they are never sent to a model. The result of a
 *   failed tool is no such text: the model needs it.
 */
import type { AgentEvent } from '../session/events.ts';
import type { ModelMessage } from '../session/projection.ts';
import type { ChatModel, ModelErrorReason } from '../models/chatModel.ts';
import type { Tool } from '../tools/tool.ts';

export interface TurnInput {
  readonly turnId: string;
  readonly sessionId: string;
  /** Position of the first row the turn adds; the next ones count on from it. */
  readonly nextSeq: number;
  /** What the model is given before the turn's own rows; ends with the prompt. */
  readonly history: readonly ModelMessage[];
  readonly system: string;
  readonly model: ChatModel;
  readonly tools: readonly Tool[];
  /** Takes each event, in order. Must not throw. */
  readonly emit: (event: AgentEvent) => void;
  /** Aborted by the user's Stop. */
  readonly signal: AbortSignal;
  readonly newId: () => string;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  /** How often the model may be asked in this turn; a model that calls tools for ever ends with a problem. */
  readonly maxSteps: number;
}

/** Reasons of the problems a turn puts on its rows, besides those of the model port. */
export type TurnProblemReason = ModelErrorReason | 'step_limit' | 'empty_answer' | 'internal';
