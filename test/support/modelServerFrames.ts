/** The frames of an OpenAI-compatible stream, as plain values and as they look on the wire. */
import type { ToolCall, Usage } from '../../src/core/session/model.ts';

export type Frame = Readonly<Record<string, unknown>>;

export function deltaFrame(delta: Frame, finishReason: string | null = null): Frame {
  return {
    id: 'chatcmpl-test',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'test-model',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  };
}

export function textFrame(text: string): Frame {
  return deltaFrame({ content: text });
}

export function reasoningFrame(text: string): Frame {
  return deltaFrame({ reasoning_content: text });
}

export function toolCallFrame(call: ToolCall, index: number | null = 0): Frame {
  const body = { id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } };
  return deltaFrame({ tool_calls: [index === null ? body : { index, ...body }] });
}

export function finishFrame(reason: string): Frame {
  return deltaFrame({}, reason);
}

export function usageFrame(usage: Usage): Frame {
  return {
    id: 'chatcmpl-test',
    object: 'chat.completion.chunk',
    choices: [],
    usage: {
      prompt_tokens: usage.inputTokens,
      completion_tokens: usage.outputTokens,
      total_tokens: usage.inputTokens + usage.outputTokens,
    },
  };
}

export function wire(frame: Frame | string): string {
  return `data: ${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n\n`;
}

/** The text cut into pieces of about `length` characters, never inside a surrogate pair. */
export function cutText(text: string, length: number): string[] {
  const characters = [...text];
  const pieces: string[] = [];
  for (let start = 0; start < characters.length; start += length) {
    pieces.push(characters.slice(start, start + length).join(''));
  }
  return pieces;
}
