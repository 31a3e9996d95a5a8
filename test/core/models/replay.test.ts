import assert from 'node:assert/strict';
import * as v from 'valibot';
import { failWith, reply, startModelServer, type ModelServer } from '../../support/modelServer.ts';
import { reasoningFrame, wire } from '../../support/modelServerFrames.ts';
import {
  interruptedToolResult,
  toModelMessages,
  type ModelMessage,
} from '../../../src/core/session/projection.ts';
import { makeMessage, type Message } from '../../../src/core/session/model.ts';
import { ask, makeModel } from './modelRig.ts';

const history: ModelMessage[] = [
  { role: 'user', text: 'One' },
  {
    role: 'assistant',
    text: 'Two',
    reasoning: 'Hm.',
    toolCalls: [{ id: 'a', name: 'look', arguments: '{"x":1}' }],
  },
  { role: 'tool', toolCallId: 'a', toolName: 'look', text: 'Seen', isError: false },
  { role: 'assistant', text: 'Three', reasoning: '', toolCalls: [] },
  { role: 'user', text: 'Four' },
];
const mustPassBack = {
  error: { message: 'The reasoning_content in the thinking mode must be passed back to the API.' },
};
const mustNotPass = { error: { message: 'Extra inputs are not permitted: reasoning_content' } };

describe('earlier messages sent to an OpenAI-compatible server', function () {
  this.timeout(20_000); // a busy machine is no failure

  let server: ModelServer;
  beforeEach(async () => {
    server = await startModelServer();
  });
  afterEach(() => server.close());
  const reasonings = (): unknown[] =>
    server.requests.map(({ body }) =>
      body.messages.flatMap((message) =>
        message.role === 'assistant' ? [message['reasoning_content'] ?? null] : [],
      ),
    );

  it('are the whole conversation, calls and results in place, reasoning left out', async () => {
    server.enqueue(reply('Five'));
    await ask(makeModel(server), { messages: history });
    assert.deepEqual(server.requests[0]?.body.messages, [
      { role: 'system', content: 'You are a test.' },
      { role: 'user', content: 'One' },
      {
        role: 'assistant',
        content: 'Two',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"x":1}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'Seen' },
      { role: 'assistant', content: 'Three' },
      { role: 'user', content: 'Four' },
    ]);
  });

  it('carry the reasoning for a provider known to want it, on every answer', async () => {
    server.enqueue(reply('Five'));
    await ask(makeModel({ ...server, modelId: 'deepseek-chat' }), { messages: history });
    assert.deepEqual(reasonings(), [['Hm.', '']]);
  });

  it('carry the reasoning once a provider refused the chat without it, and from then on', async () => {
    const model = makeModel(server);
    server.enqueue(failWith(400, mustPassBack), reply('Five'), reply('Six'));
    assert.equal((await ask(model, { messages: history })).text, 'Five');
    assert.equal((await ask(model, { messages: history })).text, 'Six');
    assert.deepEqual(reasonings(), [
      [null, null],
      ['Hm.', ''],
      ['Hm.', ''],
    ]);
  });

  it('lose the reasoning once a provider refused the chat with it', async () => {
    server.enqueue(failWith(400, mustNotPass), reply('Five'));
    assert.equal(
      (await ask(makeModel({ ...server, modelId: 'deepseek-r0' }), { messages: history })).text,
      'Five',
    );
    assert.deepEqual(reasonings(), [
      ['Hm.', ''],
      [null, null],
    ]);
  });

  it('are not sent a third time', async () => {
    server.enqueue(failWith(400, mustPassBack), failWith(400, mustPassBack), reply('never'));
    const { error } = await ask(makeModel(server), { messages: history });
    assert.deepEqual([error?.reason, server.requests.length], ['provider', 2]);
  });

  it('give reasoning that streamed back as it came', async () => {
    server.enqueue(async (request) => {
      await request.sendRaw(wire(reasoningFrame('Let me ')) + wire(reasoningFrame('think.')));
      await request.send('Done');
      await request.finish();
    });
    const { reasoning, text } = await ask(makeModel(server));
    assert.deepEqual([reasoning, text], ['Let me think.', 'Done']);
  });

  it('hold JSON objects as arguments, whatever the model once wrote', async () => {
    const written = ['', '{"x":', '[1]', 'null', '{"x":1}'];
    const messages: ModelMessage[] = [
      { role: 'user', text: 'One' },
      {
        role: 'assistant',
        text: '',
        reasoning: '',
        toolCalls: written.map((text, index) => ({ id: `c${index}`, name: 'look', arguments: text })),
      },
      ...written.map((_, index): ModelMessage => ({
        role: 'tool',
        toolCallId: `c${index}`,
        toolName: 'look',
        text: 'x',
        isError: true,
      })),
    ];
    server.enqueue(reply('Two'));
    await ask(makeModel(server), { messages });
    const calls = v.array(v.object({ function: v.object({ arguments: v.pipe(v.string(), v.parseJson()) }) }));
    const sent = v.parse(calls, server.requests[0]?.body.messages[2]?.['tool_calls']);
    assert.deepEqual(
      sent.map((call) => call.function.arguments),
      [{}, { malformed: '{"x":' }, { malformed: '[1]' }, { malformed: 'null' }, { x: 1 }],
    );
  });

  it('hold a result for a call that a killed process left without one, the stored rows unchanged', async () => {
    const row = (seq: number, overrides: Partial<Message> & Pick<Message, 'role'>): Message =>
      makeMessage({ id: `m${seq}`, sessionId: 's', seq, createdAt: seq, ...overrides });
    const stored = [
      row(1, { role: 'user', text: 'One' }),
      row(2, {
        role: 'assistant',
        status: 'interrupted',
        toolCalls: [{ id: 'a', name: 'look', arguments: '{}' }],
      }),
      row(3, { role: 'tool', status: 'interrupted', toolCallId: 'a', toolName: 'look', text: 'half' }),
      row(4, {
        role: 'assistant',
        status: 'error',
        problem: { reason: 'provider', message: 'Server said boo.' },
      }),
      row(5, { role: 'user', text: 'Go on' }),
    ];
    const copy = structuredClone(stored);
    server.enqueue(reply('Two'));
    await ask(makeModel(server), { messages: toModelMessages(stored) });
    const sent = server.requests[0]?.body.messages;
    assert.deepEqual(sent?.[3], { role: 'tool', tool_call_id: 'a', content: interruptedToolResult });
    const body = JSON.stringify(sent);
    assert.ok(!body.includes('boo'), 'errors are never sent to the model');
    assert.deepEqual(stored, copy);
  });
});
