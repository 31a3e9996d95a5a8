import assert from 'node:assert/strict';
import { startModelServer, type ModelServer } from '../../support/modelServer.ts';
import {
  deltaFrame,
  finishFrame,
  reasoningFrame,
  textFrame,
  toolCallFrame,
  usageFrame,
  wire,
  type Frame,
} from '../../support/modelServerFrames.ts';
import type { ModelErrorReason } from '../../../src/core/models/chatModel.ts';
import { ask, makeModel } from './modelRig.ts';

/** What comes of a stream, in what matters. */
interface Expected {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly { name: string; arguments: string }[];
  /** Null: the answer is whole. */
  readonly error?: ModelErrorReason;
}

const done = wire(finishFrame('stop')) + wire('[DONE]');
const hello = wire(textFrame('Hel')) + wire(textFrame('lo'));
const call = (id: string, input = '{"a":1}'): { id: string; name: string; arguments: string } => ({
  id,
  name: 'look',
  arguments: input,
});
const partOfCall = (index: number | null, part: Frame): Frame =>
  deltaFrame({ tool_calls: [{ ...(index === null ? {} : { index }), ...part }] });
const callsDone = wire(finishFrame('tool_calls')) + wire('[DONE]');
const look = { name: 'look', arguments: '{"a":1}' };
const lookElsewhere = { name: 'look', arguments: '{"a":2}' };

/** Each: what the server writes, chunk by chunk, before it ends the response in good order. */
const streams: [string, readonly (string | Uint8Array)[], Expected][] = [
  ['CRLF line ends', [(hello + done).replaceAll('\n', '\r\n')], { text: 'Hello' }],
  ['CR line ends', [(hello + done).replaceAll('\n', '\r')], { text: 'Hello' }],
  ['CRLF cut between CR and LF', (hello + done).replaceAll('\n', '\r\n').split(/(?<=\r)/), { text: 'Hello' }],
  ['no space behind data:', [(hello + done).replaceAll('data: ', 'data:')], { text: 'Hello' }],
  ['no [DONE], end after finish_reason', [hello + wire(finishFrame('stop'))], { text: 'Hello' }],
  ['[DONE] without finish_reason', [hello + wire('[DONE]')], { text: 'Hello' }],
  ['an end without finish_reason and [DONE]', [hello], { text: 'Hello', error: 'truncated' }],
  ['an end before the first frame', [': hi\n\n'], { error: 'truncated' }],
  [
    'the last frame without its empty line',
    [hello, `data: ${JSON.stringify(finishFrame('stop'))}`],
    { text: 'Hello' },
  ],
  [
    'comments before, between and inside frames',
    [
      ': OPENROUTER PROCESSING\n\n',
      `: inside\ndata: ${JSON.stringify(textFrame('Hello'))}\n: inside\n\n`,
      `: between\n\n${done}`,
    ],
    { text: 'Hello' },
  ],
  [
    'comments sent as data',
    [`data: : OPENROUTER PROCESSING\n\n${hello}data: : x\n\n${done}`],
    { text: 'Hello' },
  ],
  [
    'empty pings',
    [
      `data:\n\n${wire(textFrame('Hel'))}data: \n\nevent: ping\n\nevent: ping\ndata:\n\n${wire(textFrame('lo'))}${done}`,
    ],
    { text: 'Hello' },
  ],
  [
    'pings with words or JSON',
    [`data: ping\n\n${hello}event: ping\ndata: {"type":"ping"}\n\n${done}`],
    { text: 'Hello' },
  ],
  ['ids, retry times and unknown fields', [`id: 1\nretry: 10\nfoo: bar\n${hello}${done}`], { text: 'Hello' }],
  [
    'choices: null',
    [wire({ id: 'x', choices: null }) + hello + wire({ choices: null }) + done],
    { text: 'Hello' },
  ],
  ['no choices at all', [wire({ id: 'x' }) + hello + done], { text: 'Hello' }],
  [
    'delta: null and no delta',
    [wire({ choices: [{ index: 0, delta: null }] }) + wire({ choices: [{ index: 0 }] }) + hello + done],
    { text: 'Hello' },
  ],
  ['a role-only first delta', [wire(deltaFrame({ role: 'assistant' })) + hello + done], { text: 'Hello' }],
  ['a role nobody knows', [wire(deltaFrame({ role: 'model', content: 'Hello' })) + done], { text: 'Hello' }],
  [
    'content of a wrong type beside good one',
    [wire(deltaFrame({ content: 5 })) + hello + done],
    { text: 'Hello' },
  ],
  [
    'an empty finish_reason in every frame',
    [wire(deltaFrame({ content: 'Hello' }, '')) + done],
    { text: 'Hello' },
  ],
  [
    'reasoning-only deltas',
    [wire(deltaFrame({ reasoning_content: 'Hm' })) + wire(reasoningFrame('m.')) + hello + done],
    { reasoning: 'Hmm.', text: 'Hello' },
  ],
  [
    'reasoning named otherwise',
    [wire(deltaFrame({ reasoning: 'Hmm.' })) + hello + done],
    { reasoning: 'Hmm.', text: 'Hello' },
  ],
  [
    'JSON over several data: lines',
    [`data: {"choices":\ndata: [{"index":0,"delta":{"content":"Hello"}}]}\n\n${done}`],
    { text: 'Hello' },
  ],
  [
    'a frame cut in the middle by a raw line break',
    [`data: {"choices":[{"index":0,"delta":{"content":"Hel\nlo"}}]}\n\n${done}`],
    { text: 'Hello' },
  ],
  [
    'a frame cut in the middle into two events',
    [`data: {"choices":[{"index":0,"delta":{"con\n\ndata: tent":"Hello"}}]}\n\n${done}`],
    { text: 'Hello' },
  ],
  [
    'a frame whose end never comes, in an answer that goes on',
    [
      `${wire(textFrame('Hel'))}data: {"choices":[{"index":0,"delta":{"con\n\n${wire(textFrame('lo'))}${done}`,
    ],
    { text: 'Hello', error: 'truncated' },
  ],
  [
    'error first',
    [wire({ error: { message: 'Engine overloaded', type: 'server_error' } })],
    { error: 'provider' },
  ],
  [
    'error after three deltas',
    [hello + wire(textFrame('!')) + wire({ error: { message: 'Engine overloaded', code: 502 } }) + done],
    { text: 'Hello!', error: 'provider' },
  ],
  ['error as a string', [hello + wire({ error: 'out of memory' })], { text: 'Hello', error: 'provider' }],
  [
    'choices: null with error_type',
    [hello + wire({ choices: null, error_type: 'rate_limit_error', error_message: 'slow' })],
    { text: 'Hello', error: 'rate_limited' },
  ],
  [
    'event: error',
    [`${hello}event: error\ndata: {"message":"gone"}\n\n`],
    { text: 'Hello', error: 'provider' },
  ],
  [
    'event: error with plain words',
    [`${hello}event: error\ndata: gone\n\n`],
    { text: 'Hello', error: 'provider' },
  ],
  [
    'context full in mid-stream',
    [hello + wire({ error: { message: 'x', code: 'context_length_exceeded' } })],
    { text: 'Hello', error: 'context_full' },
  ],
  [
    'error: null beside good choices',
    [wire({ ...textFrame('Hello'), error: null }) + done],
    { text: 'Hello' },
  ],
  [
    'finish_reason length',
    [hello + wire(finishFrame('length')) + wire('[DONE]')],
    { text: 'Hello', error: 'truncated' },
  ],
  [
    'finish_reason content_filter',
    [hello + wire(finishFrame('content_filter'))],
    { text: 'Hello', error: 'provider' },
  ],
  [
    'two calls without index in one frame',
    [
      wire(
        deltaFrame({
          tool_calls: [
            { id: 'a', function: { name: 'look', arguments: '{"a":1}' } },
            { id: 'b', function: { name: 'look', arguments: '{"a":2}' } },
          ],
        }),
      ) + callsDone,
    ],
    { calls: [look, lookElsewhere] },
  ],
  [
    'two calls without index in two frames',
    [wire(toolCallFrame(call('a'), null)) + wire(toolCallFrame(call('b', '{"a":2}'), null)) + callsDone],
    { calls: [look, lookElsewhere] },
  ],
  [
    'two calls with the same index',
    [wire(toolCallFrame(call('a'), 0)) + wire(toolCallFrame(call('b', '{"a":2}'), 0)) + callsDone],
    { calls: [look, lookElsewhere] },
  ],
  [
    'two calls, interleaved',
    [
      wire(partOfCall(0, { id: 'a', function: { name: 'look', arguments: '{"a"' } })) +
        wire(partOfCall(1, { id: 'b', function: { name: 'look', arguments: '{"a"' } })) +
        wire(partOfCall(0, { function: { arguments: ':1}' } })) +
        wire(partOfCall(1, { function: { arguments: ':2}' } })) +
        callsDone,
    ],
    { calls: [look, lookElsewhere] },
  ],
  [
    'arguments as an object',
    [
      wire(
        deltaFrame({ tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: { a: 1 } } }] }),
      ) + callsDone,
    ],
    { calls: [look] },
  ],
  ['a call whose finish_reason says stop', [wire(toolCallFrame(call('a'))) + done], { calls: [look] }],
  [
    'a call that breaks off',
    [wire(partOfCall(0, { id: 'a', function: { name: 'look', arguments: '{"a"' } }))],
    { calls: [], error: 'truncated' },
  ],
  [
    'a plain JSON answer instead of a stream',
    [
      JSON.stringify(
        { choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }] },
        null,
        2,
      ),
    ],
    { text: 'Hello' },
  ],
  [
    'a plain JSON error with status 200',
    [JSON.stringify({ error: { message: 'no' } })],
    { error: 'provider' },
  ],
  [
    'a web page with status 200',
    ['<!doctype html>\n<html><body>Sign in</body></html>'],
    { error: 'provider' },
  ],
];

describe('an OpenAI-compatible stream', function () {
  this.timeout(20_000); // a busy machine is no failure

  let server: ModelServer;
  before(async () => {
    server = await startModelServer();
  });
  after(() => server.close());

  for (const [what, chunks, expected] of streams) {
    it(`is read with ${what}`, async () => {
      server.enqueue(async (request) => {
        for (const chunk of chunks) await request.sendRaw(chunk);
        request.end();
      });
      const { text, reasoning, calls, error, isFinished } = await ask(makeModel(server), { hasTools: true });
      assert.deepEqual(
        { text, reasoning, calls, error: error?.reason ?? null, isFinished },
        {
          text: '',
          reasoning: '',
          calls: [],
          ...expected,
          error: expected.error ?? null,
          isFinished: expected.error === undefined,
        },
      );
    });
  }

  for (const where of ['first', 'in the middle', 'last'] as const) {
    it(`counts tokens from a usage frame without choices that comes ${where}`, async () => {
      const usage = wire(usageFrame({ inputTokens: 7, outputTokens: 2 }));
      const parts = [wire(textFrame('Hel')), wire(textFrame('lo')), wire(finishFrame('stop'))];
      parts.splice({ first: 0, 'in the middle': 1, last: 3 }[where], 0, usage);
      server.enqueue(async (request) => {
        await request.sendRaw(parts.join('') + wire('[DONE]'));
        request.end();
      });
      const { text, usage: counted } = await ask(makeModel(server));
      assert.deepEqual([text, counted], ['Hello', { inputTokens: 7, outputTokens: 2 }]);
    });
  }

  for (const character of ['ь', '中', '👩‍👩‍👧', 'é']) {
    it(`keeps ${character} whole wherever it is cut`, async () => {
      const bytes = Buffer.from(wire(textFrame(`a${character}b`)) + done);
      const start = bytes.indexOf(Buffer.from(character));
      for (let cut = 1; cut < Buffer.byteLength(character); cut += 1) {
        server.enqueue(async (request) => {
          await request.sendRaw(bytes.subarray(0, start + cut));
          // The rest leaves in a packet of its own only after the client had time to take this one.
          await new Promise(setImmediate);
          await request.sendRaw(bytes.subarray(start + cut));
          request.end();
        });
        assert.equal((await ask(makeModel(server))).text, `a${character}b`);
      }
    });
  }

  for (const [what, headers] of [
    ['no Content-Type', {}],
    ['a wrong Content-Type', { 'content-type': 'text/plain' }],
  ] as const) {
    it(`is read with ${what}, in one request`, async () => {
      const before = server.requests.length;
      server.enqueue(async (request) => {
        request.start(headers);
        await request.sendRaw(hello + done);
        request.end();
      });
      assert.equal((await ask(makeModel(server))).text, 'Hello');
      assert.equal(server.requests.length, before + 1);
    });
  }

  it('ends with [DONE], though the server keeps the connection', async () => {
    server.enqueue((request) => request.sendRaw(hello + done).then(() => undefined));
    const outcome = await ask(makeModel(server));
    assert.deepEqual([outcome.text, outcome.isFinished], ['Hello', true]);
  });

  it('ends after finish_reason, though the server keeps the connection and says no more', async () => {
    server.enqueue((request) => request.sendRaw(hello + wire(finishFrame('stop'))).then(() => undefined));
    const outcome = await ask(makeModel({ ...server, idleTimeoutMs: 100 }));
    assert.deepEqual([outcome.text, outcome.isFinished], ['Hello', true]);
  });
});
