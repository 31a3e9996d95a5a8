import { ModelError, type ChatModel, type ModelEvent } from '../../../src/core/models/chatModel.ts';
import {
  makeOpenAiCompatibleModel,
  type OpenAiCompatibleOptions,
} from '../../../src/core/models/openAiCompatible.ts';
import type { ModelMessage } from '../../../src/core/session/projection.ts';
import type { ToolCall, Usage } from '../../../src/core/session/model.ts';

export const secretKey = 'sk-hold-fast-secret-0123456789';

export function makeModel(overrides: Partial<OpenAiCompatibleOptions> & { baseUrl: string }): ChatModel {
  return makeOpenAiCompatibleModel({
    id: 'local/test-model',
    name: 'Test model',
    providerName: 'Local',
    modelId: 'test-model',
    apiKey: () => Promise.resolve(secretKey),
    idleTimeoutMs: 5_000,
    ...overrides,
  });
}

/** Everything one request brought; `error` only when it failed. */
export interface Outcome {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly Omit<ToolCall, 'id'>[];
  readonly callIds: readonly string[];
  readonly usage: Usage | null;
  readonly isFinished: boolean;
  readonly error: ModelError | null;
}

export async function ask(
  model: ChatModel,
  options: {
    messages?: readonly ModelMessage[];
    signal?: AbortSignal;
    onEvent?: (event: ModelEvent) => void;
    hasTools?: boolean;
  } = {},
): Promise<Outcome> {
  const seen: ModelEvent[] = [];
  let error: ModelError | null = null;
  const request = {
    system: 'You are a test.',
    messages: options.messages ?? [{ role: 'user' as const, text: 'Hello' }],
    tools:
      options.hasTools === true
        ? [{ name: 'look', description: 'Looks.', parameters: { type: 'object' } }]
        : [],
  };
  try {
    for await (const event of model.stream(request, options.signal ?? new AbortController().signal)) {
      seen.push(event);
      options.onEvent?.(event);
    }
  } catch (caught) {
    if (!(caught instanceof ModelError)) throw caught;
    error = caught;
  }
  const calls = seen.flatMap((event) => (event.type === 'toolCall' ? [event.call] : []));
  const finish = seen.find((event) => event.type === 'finish');
  return {
    text: seen.map((event) => (event.type === 'text' ? event.text : '')).join(''),
    reasoning: seen.map((event) => (event.type === 'reasoning' ? event.text : '')).join(''),
    calls: calls.map(({ name, arguments: input }) => ({ name, arguments: input })),
    callIds: calls.map(({ id }) => id),
    usage: finish?.usage ?? null,
    isFinished: finish !== undefined,
    error,
  };
}
