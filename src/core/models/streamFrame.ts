/**
 * One frame of an OpenAI-compatible stream, reduced to what the SDK understands. Servers put other types into nearly
 * every field; a field that cannot be used is left out instead of failing the answer.
 */
import * as v from 'valibot';

const text = v.fallback(v.nullish(v.string(), null), null);
const count = v.fallback(v.nullish(v.number(), null), null);

const toolCallDelta = v.object({
  index: count,
  id: text,
  function: v.fallback(
    v.object({
      name: text,
      // Some servers send the arguments as the object itself instead of its JSON text.
      arguments: v.fallback(
        v.nullish(
          v.union([
            v.string(),
            v.pipe(
              v.record(v.string(), v.unknown()),
              v.transform((value) => JSON.stringify(value)),
            ),
          ]),
          null,
        ),
        null,
      ),
    }),
    { name: null, arguments: null },
  ),
  extra_content: v.fallback(v.nullish(v.unknown()), null),
});

const delta = v.object({
  content: v.fallback(
    v.nullish(v.union([v.string(), v.array(v.looseObject({ type: v.string() }))]), null),
    null,
  ),
  reasoning_content: text,
  reasoning: text,
  refusal: text,
  tool_calls: v.fallback(v.nullish(v.array(toolCallDelta), null), null),
});

const choice = v.object({
  delta: v.fallback(v.nullish(delta, null), null),
  /** Of an answer that was not streamed. */
  message: v.fallback(v.nullish(delta, null), null),
  finish_reason: text,
});

const frameSchema = v.object({
  id: text,
  model: text,
  choices: v.fallback(v.array(choice), []),
  usage: v.fallback(v.nullish(v.looseObject({ prompt_tokens: count, completion_tokens: count }), null), null),
});

export interface StreamFrame {
  /** JSON for the SDK. */
  readonly json: string;
  readonly isFinish: boolean;
  /** It brought something of the answer. */
  readonly hasContent: boolean;
}

/** Null for JSON that is no frame at all. */
export function toStreamFrame(value: unknown): StreamFrame | null {
  const parsed = v.safeParse(frameSchema, value);
  if (!parsed.success) return null;
  const { id, model, usage } = parsed.output;
  const choices = parsed.output.choices.map(({ delta: given, message, finish_reason: reason }) => ({
    index: 0,
    delta: given ?? message,
    finish_reason: reason === '' ? null : reason,
  }));
  return {
    json: JSON.stringify({ id, model, choices, usage }),
    isFinish: choices.some((one) => one.finish_reason !== null),
    hasContent: choices.some((one) =>
      Object.values(one.delta ?? {}).some((part) => part !== null && part !== ''),
    ),
  };
}

/** Ends an answer whose server sent `[DONE]` and no reason. */
export const finishFrame: StreamFrame = {
  json: JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
  isFinish: true,
  hasContent: false,
};
