/** A request of the port in the words of the SDK. */
import type { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { ToolCall } from '../session/model.ts';
import type { ModelMessage } from '../session/projection.ts';
import type { ModelRequest, ToolDescription } from './chatModel.ts';

type SdkModel = ReturnType<ReturnType<typeof createOpenAICompatible>['chatModel']>;
type SdkCall = Parameters<SdkModel['doStream']>[0];
type SdkPrompt = SdkCall['prompt'];
type SdkMessage = SdkPrompt[number];
type SdkTool = NonNullable<SdkCall['tools']>[number];

/** `replaysReasoning`: whether earlier reasoning is sent along; most servers refuse or ignore it. */
export function toSdkPrompt(request: ModelRequest, replaysReasoning: boolean): SdkPrompt {
  const messages = request.messages.map((message) => toSdkMessage(message, replaysReasoning));
  return request.system === '' ? messages : [{ role: 'system', content: request.system }, ...messages];
}

function toSdkMessage(message: ModelMessage, replaysReasoning: boolean): SdkMessage {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.text }] };
    case 'assistant':
      return {
        role: 'assistant',
        content: [
          ...(replaysReasoning && message.reasoning !== ''
            ? [{ type: 'reasoning' as const, text: message.reasoning }]
            : []),
          ...(message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]),
          ...message.toolCalls.map((call) => ({
            type: 'tool-call' as const,
            toolCallId: call.id,
            toolName: call.name,
            input: replayableArguments(call),
          })),
        ],
      };
    case 'tool':
      return {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: message.toolCallId,
            toolName: message.toolName,
            output: { type: message.isError ? 'error-text' : 'text', value: message.text },
          },
        ],
      };
  }
}

/** Servers parse the arguments of earlier calls and refuse the whole chat when they are no JSON object. */
function replayableArguments(call: ToolCall): unknown {
  if (call.arguments.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(call.arguments);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    return { malformed: call.arguments };
  }
  return { malformed: call.arguments };
}

export function toSdkTools(tools: readonly ToolDescription[]): SdkTool[] {
  return tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    inputSchema: { ...parameters },
  }));
}
