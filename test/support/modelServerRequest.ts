import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import * as v from 'valibot';
import type { ToolCall, Usage } from '../../src/core/session/model.ts';
import {
  cutText,
  finishFrame,
  reasoningFrame,
  textFrame,
  toolCallFrame,
  usageFrame,
  wire,
  type Frame,
} from './modelServerFrames.ts';

/** What the tests look at of a request's body; everything else stays in `raw`. */
const bodySchema = v.looseObject({
  model: v.optional(v.string(), ''),
  messages: v.optional(v.array(v.looseObject({ role: v.string(), content: v.optional(v.unknown()) })), []),
  tools: v.optional(v.array(v.unknown())),
  stream: v.optional(v.boolean(), false),
});
export type ModelRequestBody = v.InferOutput<typeof bodySchema>;

/**
 * One request the server got and the answer to it, written step by step. Every step resolves when its bytes were given
 * to the operating system, or at once when the client has gone.
 */
export class ModelServerRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: ModelRequestBody;
  /** The answer's text as far as it was really written to the socket. */
  sentText = '';
  /** When each piece of text was written: Unix time in milliseconds, and the length of `sentText` after it. */
  readonly sentLog: { readonly at: number; readonly length: number }[] = [];
  /** Resolves when the client or the server closed the connection. */
  readonly closed: Promise<void>;
  isClosed = false;
  private readonly response: ServerResponse;

  constructor(request: IncomingMessage, bodyText: string, response: ServerResponse) {
    this.path = request.url ?? '';
    this.headers = request.headers;
    this.body = v.parse(bodySchema, bodyText === '' ? {} : JSON.parse(bodyText));
    this.response = response;
    this.closed = new Promise((resolve) => {
      response.on('close', () => {
        this.isClosed = true;
        resolve();
      });
    });
  }

  /** The last user message's text, which tells concurrent requests apart. */
  get prompt(): string {
    const content = this.body.messages.findLast((message) => message.role === 'user')?.content;
    return typeof content === 'string' ? content : JSON.stringify(content ?? '');
  }

  /** Sends status and headers only; the other steps do it by themselves. */
  start(
    headers: Readonly<Record<string, string>> = { 'content-type': 'text/event-stream' },
    status = 200,
  ): void {
    if (this.response.headersSent || this.isClosed) return;
    this.response.writeHead(status, headers);
    this.response.flushHeaders();
  }

  async send(text: string): Promise<void> {
    if (!(await this.sendRaw(wire(textFrame(text))))) return;
    this.sentText += text;
    this.sentLog.push({ at: Date.now(), length: this.sentText.length });
  }

  async sendReasoning(text: string): Promise<void> {
    await this.sendRaw(wire(reasoningFrame(text)));
  }

  async sendToolCall(call: ToolCall, index: number | null = 0): Promise<void> {
    await this.sendRaw(wire(toolCallFrame(call, index)));
  }

  async sendFrame(frame: Frame | string): Promise<void> {
    await this.sendRaw(wire(frame));
  }

  /** True once the bytes left; false when the client had gone. */
  sendRaw(bytes: string | Uint8Array): Promise<boolean> {
    this.start();
    if (this.isClosed || this.response.writableEnded) return Promise.resolve(false);
    const written = new Promise<boolean>((resolve) => {
      this.response.write(bytes, (error) => resolve(error === undefined || error === null));
    });
    return Promise.race([written, this.closed.then(() => false)]);
  }

  /** Ends the answer as a well-behaved server does. */
  async finish(options: { reason?: string; usage?: Usage } = {}): Promise<void> {
    await this.sendRaw(wire(finishFrame(options.reason ?? 'stop')));
    if (options.usage !== undefined) await this.sendRaw(wire(usageFrame(options.usage)));
    await this.sendRaw(wire('[DONE]'));
    this.end();
  }

  /** Ends the response in good order but without any of the frames that say so. */
  end(): void {
    this.start();
    this.response.end();
  }

  /** Answers with an error status; `body` is sent as JSON unless it is a string. */
  fail(status: number, body: unknown = '', headers: Readonly<Record<string, string>> = {}): void {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const type = typeof body === 'string' ? 'text/plain' : 'application/json';
    this.response.writeHead(status, { 'content-type': type, ...headers });
    this.response.end(text);
  }

  /** Destroys the connection, as a crash of the server would. */
  drop(): void {
    this.response.destroy();
  }

  /** Sends the headers and then nothing, for ever. */
  hang(): void {
    this.start();
  }

  /** Streams by itself; the pace is kept on average, however slow the timer is. Stops when the client goes. */
  async stream(text: string, pace: { chunksPerSecond: number; chunkLength?: number }): Promise<void> {
    const startedAt = Date.now();
    for (const [index, piece] of cutText(text, pace.chunkLength ?? 20).entries()) {
      const wait = startedAt + (index * 1000) / pace.chunksPerSecond - Date.now();
      if (wait > 0) await Promise.race([pause(wait), this.closed]);
      if (this.isClosed) return;
      await this.send(piece);
    }
  }
}
