/**
 * Any server that speaks OpenAI's chat completions. The protocol's quirks are the SDK's job (`doStream` only); what it
 * gets wrong is put right between it and the network (repairedStream.ts), and every failure becomes a `ModelError`.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { ToolCall, Usage } from '../session/model.ts';
import { ModelError, type ChatModel, type ModelEvent, type ModelRequest } from './chatModel.ts';
import { connectionError, filteredError, lengthError, stalledError } from './networkErrors.ts';
import { faultError, responseError, type Endpoint } from './providerErrors.ts';
import { ReasoningReplay } from './reasoningReplay.ts';
import { repairStream, type RepairedStream } from './repairedStream.ts';
import { toSdkPrompt, toSdkTools } from './sdkPrompt.ts';

export interface OpenAiCompatibleOptions {
  /** `<provider>/<model>` */
  readonly id: string;
  readonly name: string;
  /** The provider's name for error sentences; the model's when absent. */
  readonly providerName?: string;
  readonly baseUrl: string;
  /** What the server calls the model. */
  readonly modelId: string;
  /** Asked before every request; null when none is stored. */
  readonly apiKey: () => Promise<string | null>;
  readonly headers?: Readonly<Record<string, string>>;
  /** For proxies and certificates of the editor; the global one when absent. */
  readonly fetch?: typeof globalThis.fetch;
  /** Milliseconds without a byte, before or within the answer, after which it counts as stalled. */
  readonly idleTimeoutMs: number;
}

export function makeOpenAiCompatibleModel(options: OpenAiCompatibleOptions): ChatModel {
  const replay = new ReasoningReplay(options.baseUrl, options.modelId);
  return {
    id: options.id,
    name: options.name,
    async *stream(request, signal) {
      const key = usableKey(await options.apiKey());
      const endpoint = makeEndpoint(options, key);
      if (key !== null && !/^[\x21-\x7e]+$/.test(key)) throw unusableKey(endpoint);
      for (;;) {
        const attempt = new Attempt(options, endpoint, key, replay.isOn);
        try {
          yield* attempt.run(request, signal);
          return;
        } catch (error) {
          // Nothing was streamed yet, and the server says what it wants: ask once more, the other way.
          if (!replay.learn(attempt.refusal)) throw error;
        }
      }
    },
  };
}

/** One HTTP request. */
class Attempt {
  /** Body of an error response; empty otherwise. */
  refusal = '';
  private repaired: RepairedStream | null = null;
  /** Thrown inside `fetch`; the SDK may wrap it. */
  private fetchFailure: ModelError | null = null;
  private readonly options: OpenAiCompatibleOptions;
  private readonly endpoint: Endpoint;
  private readonly key: string | null;
  private readonly replaysReasoning: boolean;

  constructor(
    options: OpenAiCompatibleOptions,
    endpoint: Endpoint,
    key: string | null,
    replaysReasoning: boolean,
  ) {
    this.options = options;
    this.endpoint = endpoint;
    this.key = key;
    this.replaysReasoning = replaysReasoning;
  }

  async *run(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const closing = new AbortController();
    const abortSignal = AbortSignal.any([signal, closing.signal]);
    try {
      yield* this.receive(request, abortSignal);
    } catch (error) {
      throw this.failure() ?? this.toModelError(error);
    } finally {
      closing.abort(); // the caller may have stopped reading in the middle
    }
  }

  private async *receive(request: ModelRequest, abortSignal: AbortSignal): AsyncGenerator<ModelEvent> {
    const { stream } = await this.sdkModel().doStream({
      prompt: toSdkPrompt(request, this.replaysReasoning),
      ...(request.tools.length === 0 ? {} : { tools: toSdkTools(request.tools) }),
      abortSignal,
    });
    // Calls wait for the end: of an answer that breaks off, the SDK passes on unfinished ones as if they were whole.
    const calls: ToolCall[] = [];
    for await (const part of stream) {
      // The SDK has many more kinds of parts; an answer consists of these.
      if (part.type === 'text-delta') yield { type: 'text', text: part.delta };
      else if (part.type === 'reasoning-delta') yield { type: 'reasoning', text: part.delta };
      else if (part.type === 'tool-call')
        calls.push({ id: part.toolCallId, name: part.toolName, arguments: part.input });
      else if (part.type === 'error') throw this.failure() ?? this.toModelError(part.error);
      else if (part.type === 'finish') {
        const failure = this.failure();
        if (failure !== null) throw failure;
        if (part.finishReason.unified === 'length') throw lengthError(this.endpoint);
        if (part.finishReason.unified === 'content-filter') throw filteredError(this.endpoint);
        for (const call of calls) yield { type: 'toolCall', call };
        const { inputTokens, outputTokens } = part.usage;
        yield { type: 'finish', usage: toUsage(inputTokens.total, outputTokens.total) };
        return;
      }
    }
  }

  private sdkModel(): ReturnType<ReturnType<typeof createOpenAICompatible>['chatModel']> {
    const provider = createOpenAICompatible({
      name: 'openaiCompatible',
      baseURL: this.options.baseUrl,
      includeUsage: true,
      headers: { ...this.options.headers },
      fetch: (input, init) => this.fetch(input, init),
      ...(this.key === null ? {} : { apiKey: this.key }),
      ...(this.replaysReasoning ? { transformRequestBody: withReasoningFields } : {}),
    });
    return provider.chatModel(this.options.modelId);
  }

  /** The seam: responses leave it only when they are answers, and then repaired. Raises `ModelError`. */
  private async fetch(input: Parameters<typeof fetch>[0], init: RequestInit | undefined): Promise<Response> {
    try {
      const response = await this.request(input, init ?? {});
      if (response.body === null) throw connectionError(this.endpoint, null);
      this.repaired = repairStream(response.body, this.endpoint, this.options.idleTimeoutMs);
      // Content-Type is not looked at: proxies strip it, and the body says what it is.
      return new Response(this.repaired.body, {
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
      });
    } catch (error) {
      if (init?.signal?.aborted === true) throw error;
      this.fetchFailure = error instanceof ModelError ? error : connectionError(this.endpoint, error);
      throw this.fetchFailure;
    }
  }

  private async request(input: Parameters<typeof fetch>[0], init: RequestInit): Promise<Response> {
    const { idleTimeoutMs } = this.options;
    const waiting = new AbortController();
    const timer = setTimeout(() => waiting.abort(stalledError(this.endpoint, idleTimeoutMs)), idleTimeoutMs);
    const signal = AbortSignal.any([waiting.signal, ...(init.signal ? [init.signal] : [])]);
    try {
      const response = await (this.options.fetch ?? globalThis.fetch)(input, { ...init, signal });
      if (response.ok) return response;
      this.refusal = await response.text();
      throw responseError(
        this.endpoint,
        response.status,
        this.refusal,
        response.headers.get('retry-after'),
        Date.now(),
      );
    } catch (error) {
      const reason: unknown = waiting.signal.reason;
      throw reason instanceof ModelError ? reason : error;
    } finally {
      clearTimeout(timer);
    }
  }

  private failure(): ModelError | null {
    return this.fetchFailure ?? this.repaired?.failure() ?? null;
  }

  private toModelError(error: unknown): ModelError {
    if (error instanceof ModelError) return error;
    const message = error instanceof Error ? error.message : String(error);
    return faultError(this.endpoint, 200, { message, code: '', type: '' });
  }
}

function toUsage(inputTokens: number | undefined, outputTokens: number | undefined): Usage | null {
  if (inputTokens === undefined && outputTokens === undefined) return null;
  return { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 };
}

/** Keys are pasted, often with a line end. */
function usableKey(key: string | null): string | null {
  const trimmed = key?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}

function unusableKey(endpoint: Endpoint): ModelError {
  return new ModelError(
    'authentication',
    `The API key stored for ${endpoint.name} holds characters no key has. Store it again with the command "Holdfast: Set API Key".`,
  );
}

function makeEndpoint(options: OpenAiCompatibleOptions, key: string | null): Endpoint {
  const secrets = [...(key === null ? [] : [key]), ...Object.values(options.headers ?? {})].filter(
    (secret) => secret.length >= 6,
  );
  return {
    name: options.providerName ?? options.name,
    address: shownAddress(options.baseUrl),
    modelId: options.modelId,
    hasKey: key !== null,
    redact: (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, '[key]'), text),
  };
}

/** Without user, password and query, which may be secrets. */
function shownAddress(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const { origin, pathname } = new URL(baseUrl);
  return `${origin}${pathname === '/' ? '' : pathname.replace(/\/$/, '')}`;
}

/** Servers that want reasoning back want the field on every answer with calls, even when another model wrote it. */
function withReasoningFields(body: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(body['messages'])) return body;
  const messages = body['messages'].map((message: unknown) => {
    const isAnswer =
      typeof message === 'object' && message !== null && 'role' in message && message.role === 'assistant';
    return isAnswer && !('reasoning_content' in message) ? { ...message, reasoning_content: '' } : message;
  });
  return { ...body, messages };
}
