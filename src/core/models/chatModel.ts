/**
 * The port to language models. An adapter turns one request into a stream of events and nothing else: it knows no
 * storage, no tools' implementations and no user interface.
 *
 * Contract: the stream ends with exactly one `finish`, or throws a `ModelError`. After `signal` aborts it stops soon,
 * by ending or by throwing; the caller looks at the signal, not at what was thrown. A connection that ends before the
 * model finished throws `truncated`.
 */
import type { ToolCall, Usage } from '../session/model.ts';
import type { ModelMessage } from '../session/projection.ts';

export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolDescription[];
}

export type ModelEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'toolCall'; readonly call: ToolCall }
  | { readonly type: 'finish'; readonly usage: Usage | null };

export interface ChatModel {
  /** Stable across restarts: `offline`, or `<provider>/<model>`. */
  readonly id: string;
  readonly name: string;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

export type ModelErrorReason =
  'unreachable' | 'authentication' | 'rate_limited' | 'context_full' | 'stalled' | 'truncated' | 'provider';

/** `message` is a sentence for the user that names the cause and what to do about it. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly reason: ModelErrorReason;
  /** How long the provider asked us to wait, in milliseconds. */
  readonly retryAfterMs: number | null;

  constructor(
    reason: ModelErrorReason,
    message: string,
    options: { cause?: unknown; retryAfterMs?: number } = {},
  ) {
    super(message, { cause: options.cause });
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
