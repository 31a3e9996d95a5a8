/**
 * An OpenAI-compatible server on loopback whose answers the test writes. Three ways, in this order of precedence:
 * `enqueue` plans for the next requests, `script` a handler for all others, or neither: then the request waits and the
 * test answers it step by step.
 *
 *     const server = await startModelServer();
 *     const request = await server.waitForRequest();
 *     await request.send('Hello');
 *     await request.finish();
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ToolCall, Usage } from '../../src/core/session/model.ts';
import { ModelServerRequest } from './modelServerRequest.ts';

/** Answers one request. */
export type ResponsePlan = (request: ModelServerRequest) => void | Promise<void>;

export interface ModelServer {
  /** Goes into `holdfast.providers` as it is. */
  readonly baseUrl: string;
  readonly port: number;
  /** All requests for an answer, in the order they came. */
  readonly requests: readonly ModelServerRequest[];
  enqueue(...plans: ResponsePlan[]): void;
  /** Answers every request that no plan is left for; null: such requests wait for the test. */
  script(handler: ResponsePlan | null): void;
  /** The first request that this was not yet given to, now or when it comes. */
  waitForRequest(options?: { timeout?: number }): Promise<ModelServerRequest>;
  close(): Promise<void>;
}

export async function startModelServer(options: { port?: number } = {}): Promise<ModelServer> {
  const requests: ModelServerRequest[] = [];
  const plans: ResponsePlan[] = [];
  const waiting: ((request: ModelServerRequest) => void)[] = [];
  let handler: ResponsePlan | null = null;
  let handedOut = 0;

  const handOut = (): void => {
    for (;;) {
      const request = requests[handedOut];
      const next = request === undefined ? undefined : waiting.shift();
      if (request === undefined || next === undefined) return;
      handedOut += 1;
      next(request);
    }
  };

  const server = createServer((incoming, response) => {
    void readBody(incoming).then(async (bodyText) => {
      if (incoming.method === 'GET') {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ object: 'list', data: [{ id: 'test-model', object: 'model' }] }));
        return;
      }
      const request = new ModelServerRequest(incoming, bodyText, response);
      requests.push(request);
      const plan = plans.shift() ?? handler;
      handOut();
      await plan?.(request);
    });
  });
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve));
  const port = portOf(server.address());

  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    enqueue: (...added) => void plans.push(...added),
    script: (next) => void (handler = next),
    waitForRequest: ({ timeout = 20_000 } = {}) =>
      new Promise((resolve, reject) => {
        const give = (request: ModelServerRequest): void => {
          clearTimeout(timer);
          resolve(request);
        };
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(give), 1);
          reject(new Error(`The model server waited ${timeout} ms in vain for request ${handedOut + 1}`));
        }, timeout);
        waiting.push(give);
        handOut();
      }),
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

/** A whole answer at once. */
export function reply(text: string, usage?: Usage): ResponsePlan {
  return async (request) => {
    await request.send(text);
    await request.finish(usage === undefined ? {} : { usage });
  };
}

export function replyWithToolCalls(...calls: ToolCall[]): ResponsePlan {
  return async (request) => {
    for (const [index, call] of calls.entries()) await request.sendToolCall(call, index);
    await request.finish({ reason: 'tool_calls' });
  };
}

/** A long answer at a steady pace. */
export function replySlowly(
  text: string,
  pace: { chunksPerSecond: number; chunkLength?: number },
): ResponsePlan {
  return async (request) => {
    await request.stream(text, pace);
    await request.finish();
  };
}

export function failWith(
  status: number,
  body: unknown = '',
  headers: Readonly<Record<string, string>> = {},
): ResponsePlan {
  return (request) => request.fail(status, body, headers);
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of incoming.setEncoding('utf8')) text += String(piece);
  return text;
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('The model server has no port');
  return address.port;
}
