import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { failWith, reply, startModelServer, type ModelServer } from '../../support/modelServer.ts';
import type { ModelErrorReason } from '../../../src/core/models/chatModel.ts';
import { parseRetryAfter } from '../../../src/core/models/providerErrors.ts';
import { ask, makeModel, secretKey } from './modelRig.ts';

describe('an OpenAI-compatible server that fails', function () {
  this.timeout(20_000); // a busy machine is no failure

  let server: ModelServer;
  before(async () => {
    server = await startModelServer();
  });
  after(() => server.close());

  const wordsOnly = "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.";
  const failures: [string, number, unknown, ModelErrorReason, RegExp][] = [
    [
      'a wrong key',
      401,
      { error: { message: 'Incorrect API key' } },
      'authentication',
      /did not accept the API key \(status 401\): "Incorrect API key".*Holdfast: Set API Key/,
    ],
    ['a key without rights', 403, '', 'authentication', /status 403.*Holdfast: Set API Key/],
    [
      'too many requests',
      429,
      { error: { message: 'Slow down.' } },
      'rate_limited',
      /limiting requests: "Slow down"\. Wait a little/,
    ],
    [
      'too many requests without a body',
      429,
      '',
      'rate_limited',
      /Local is limiting requests\. Wait a little/,
    ],
    [
      'a used-up quota',
      429,
      { error: { message: 'Quota', code: 'insufficient_quota' } },
      'provider',
      /quota.*used up.*Add credit/,
    ],
    [
      'a full context by code',
      400,
      { error: { message: 'x', code: 'context_length_exceeded' } },
      'context_full',
      /too long for test-model at Local.*Start a new chat/,
    ],
    [
      'a full context by type',
      400,
      { error: { message: 'x', type: 'exceed_context_size_error', code: 400 } },
      'context_full',
      /too long/,
    ],
    [
      'a full context by words only',
      400,
      { object: 'error', message: wordsOnly, code: 400 },
      'context_full',
      /too long/,
    ],
    ['a request that is too large', 413, '', 'context_full', /too long/],
    [
      'an unknown model',
      404,
      { error: 'model "x" not found' },
      'provider',
      /does not know the model test-model.*"model "x" not found".*holdfast\.providers/,
    ],
    [
      'an inner fault',
      500,
      { error: { message: 'CUDA error' } },
      'provider',
      /Local at http:\/\/127\.0\.0\.1:\d+\/v1 reported an error \(status 500\): "CUDA error"\. Press Retry/,
    ],
    ['a proxy page', 502, '<html>Bad gateway</html>', 'provider', /\(status 502\)\. Press Retry/],
    ['a plain sentence', 503, 'no healthy upstream', 'provider', /\(status 503\): "no healthy upstream"/],
    ['a fault in a list', 400, [{ error: { message: 'Bad', code: 400 } }], 'provider', /"Bad"/],
    ['a detail', 422, { detail: 'field required' }, 'provider', /"field required"/],
  ];
  for (const [what, status, body, reason, sentence] of failures) {
    it(`${what} is ${reason}, said in a sentence`, async () => {
      server.enqueue(failWith(status, body));
      const { error } = await ask(makeModel(server));
      assert.equal(error?.reason, reason);
      assert.match(error?.message ?? '', sentence);
    });
  }

  it('is asked for a key when none is stored', async () => {
    server.enqueue(failWith(401, { error: { message: 'No key' } }));
    const { error } = await ask(makeModel({ ...server, apiKey: () => Promise.resolve(null) }));
    assert.match(error?.message ?? '', /wants an API key and none is stored \(status 401\)\. Store one with/);
    assert.equal(server.requests.at(-1)?.headers['authorization'], undefined);
  });

  for (const [what, header, expected] of [
    ['seconds', '3', 3_000],
    ['no header', null, null],
    ['an unreadable header', 'soon', null],
  ] as const) {
    it(`says how long to wait after 429 with ${what}`, async () => {
      server.enqueue(failWith(429, '', header === null ? {} : { 'retry-after': header }));
      const { error } = await ask(makeModel(server));
      assert.equal(error?.retryAfterMs, expected);
      assert.match(
        error?.message ?? '',
        expected === null ? /Wait a little/ : /Wait 3 seconds, then press Retry/,
      );
    });
  }

  it('reads Retry-After as a date, and one in the past as now', () => {
    const now = Date.UTC(2026, 0, 1, 12, 0, 0);
    assert.equal(parseRetryAfter('Thu, 01 Jan 2026 12:00:05 GMT', now), 5_000);
    assert.equal(parseRetryAfter('Thu, 01 Jan 2026 11:00:00 GMT', now), 0);
  });

  it('never gets its key into an error, also when it echoes the key', async () => {
    const echo = `key ${secretKey} is wrong`;
    for (const status of [400, 401, 403, 404, 429, 500]) {
      server.enqueue(failWith(status, { error: { message: echo, code: secretKey } }));
      assertKeepsSecret((await ask(makeModel(server))).error);
    }
    server.enqueue(async (request) => {
      await request.sendFrame({ error: { message: echo } });
      request.end();
    });
    assertKeepsSecret((await ask(makeModel(server))).error);
    const withHeader = makeModel({
      ...server,
      apiKey: () => Promise.resolve(null),
      headers: { 'x-key': secretKey },
    });
    server.enqueue(failWith(500, echo));
    assertKeepsSecret((await ask(withHeader)).error);
  });

  it('is not sent a key with line breaks inside; one at its end is cut off', async () => {
    const before = server.requests.length;
    const broken = await ask(makeModel({ ...server, apiKey: () => Promise.resolve(`${secretKey}\nx`) }));
    assert.equal(broken.error?.reason, 'authentication');
    assertKeepsSecret(broken.error);
    assert.equal(server.requests.length, before);
    server.enqueue(reply('Hello'));
    await ask(makeModel({ ...server, apiKey: () => Promise.resolve(`${secretKey}\n`) }));
    assert.equal(server.requests.at(-1)?.headers['authorization'], `Bearer ${secretKey}`);
  });

  it('drops the connection: truncated, and every piece that arrived is kept', async () => {
    server.enqueue(async (request) => {
      for (let piece = 0; piece < 50; piece += 1) await request.send(`${piece} `);
    });
    const last = '48 49 ';
    let text = '';
    const outcome = await ask(makeModel(server), {
      onEvent: (event) => {
        if (event.type === 'text') text += event.text;
        if (text.endsWith(last)) server.requests.at(-1)?.drop();
      },
    });
    assert.equal(outcome.error?.reason, 'truncated');
    assert.equal(outcome.text, server.requests.at(-1)?.sentText);
    assert.match(outcome.error?.message ?? '', /connection to Local at .* ended before.*Continue or Retry/);
  });

  it('drops the connection before it answers: unreachable', async () => {
    server.enqueue((request) => request.drop());
    const { error } = await ask(makeModel(server));
    assert.equal(error?.reason, 'unreachable');
  });

  for (const [what, plan] of [
    ['accepts and never answers', () => undefined],
    ['sends headers and then nothing', (request) => request.hang()],
    [
      'sends a piece and then nothing',
      async (request) => {
        await request.send('Hel');
      },
    ],
  ] satisfies [string, Parameters<ModelServer['enqueue']>[0]][]) {
    it(`${what}: stalled after the idle limit, and the connection is closed`, async () => {
      server.enqueue(plan);
      const { error, text } = await ask(makeModel({ ...server, idleTimeoutMs: 60 }));
      assert.equal(error?.reason, 'stalled');
      assert.equal(text, server.requests.at(-1)?.sentText);
      await server.requests.at(-1)?.closed;
    });
  }

  it('pings for ever without a word: stalled all the same', async () => {
    server.enqueue(async (request) => {
      while (await request.sendRaw(': still here\n\n')) await new Promise(setImmediate);
    });
    const { error } = await ask(makeModel({ ...server, idleTimeoutMs: 60 }));
    assert.equal(error?.reason, 'stalled');
    await server.requests.at(-1)?.closed;
  });

  it('is left alone by Stop: the stream ends and the connection is closed', async () => {
    for (const when of ['before headers', 'in the answer'] as const) {
      const controller = new AbortController();
      server.enqueue(async (request) => {
        if (when === 'in the answer') await request.send('Hel');
        else setImmediate(() => controller.abort());
      });
      await ask(makeModel(server), {
        signal: controller.signal,
        onEvent: () => controller.abort(),
      });
      await server.requests.at(-1)?.closed;
    }
  });

  it('is closed when the caller stops reading', async () => {
    server.enqueue(async (request) => {
      while (await request.sendRaw('data: {"choices":[{"delta":{"content":"x"}}]}\n\n'))
        await new Promise(setImmediate);
    });
    const request = { system: '', messages: [{ role: 'user' as const, text: 'Hi' }], tools: [] };
    for await (const event of makeModel(server).stream(request, new AbortController().signal)) {
      if (event.type === 'text') break;
    }
    await server.requests.at(-1)?.closed;
  });
});

describe('an endpoint that is not there', function () {
  this.timeout(20_000); // a busy machine is no failure

  it('is unreachable when nothing listens, and the sentence names it', async () => {
    const probe = createServer();
    await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
    const { port } = addressOf(probe.address());
    await new Promise((resolve) => probe.close(resolve));
    const { error } = await ask(makeModel({ baseUrl: `http://127.0.0.1:${port}/v1` }));
    assert.equal(error?.reason, 'unreachable');
    assert.match(
      error?.message ?? '',
      new RegExp(`Nothing answers at http://127.0.0.1:${port}/v1 \\(Local\\)\\. Start the server`),
    );
    assertKeepsSecret(error);
  });

  it('is unreachable when its host has no address', async () => {
    const { error } = await ask(makeModel({ baseUrl: 'http://no-such-host.invalid/v1' }));
    assert.equal(error?.reason, 'unreachable');
    assert.match(error?.message ?? '', /no-such-host\.invalid/);
  });

  it('is unreachable when it speaks no HTTP', async () => {
    const noise = createServer((socket) => {
      socket.on('error', () => socket.destroy()); // the client hangs up on the nonsense
      socket.resume().end('SSH-2.0-OpenSSH\r\n');
    });
    await new Promise<void>((resolve) => noise.listen(0, '127.0.0.1', resolve));
    const { port } = addressOf(noise.address());
    const { error } = await ask(makeModel({ baseUrl: `http://127.0.0.1:${port}/v1` }));
    assert.equal(error?.reason, 'unreachable');
    await new Promise((resolve) => noise.close(resolve));
  });
});

function addressOf(address: AddressInfo | string | null): AddressInfo {
  assert.ok(address !== null && typeof address === 'object');
  return address;
}

/** Neither the error nor anything it holds may show the key. */
function assertKeepsSecret(error: Error | null): void {
  assert.ok(error !== null);
  const seen = new Set<unknown>();
  const queue: unknown[] = [error];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (typeof next === 'string') assert.ok(!next.includes(secretKey), next);
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    seen.add(next);
    for (const name of Object.getOwnPropertyNames(next)) queue.push(Reflect.get(next, name));
  }
}
