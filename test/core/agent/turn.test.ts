import assert from 'node:assert/strict';
import * as v from 'valibot';
import { ModelError, type ModelErrorReason } from '../../../src/core/models/chatModel.ts';
import { toModelMessages } from '../../../src/core/session/projection.ts';
import { makeTool, type Tool } from '../../../src/core/tools/tool.ts';
import { call, events, finish, never, rows, runWith, ScriptedModel, text } from './turnRig.ts';

const echo: Tool = makeTool({
  name: 'echo',
  description: 'Says its word.',
  parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  schema: v.object({ word: v.string() }),
  run: ({ word }) => Promise.resolve(`echo ${word}`),
});

function makeStuckTool(): Tool {
  return { name: 'stuck', description: '', parameters: {}, run: () => never() };
}

describe('a turn', () => {
  it('streams an answer into one row and ends once', async () => {
    const run = await runWith(new ScriptedModel(text('Hel', 'lo')));
    assert.deepEqual(rows(run.state), [{ seq: 2, role: 'assistant', status: 'complete', text: 'Hello' }]);
    assert.deepEqual(
      run.events.map((event) => event.type),
      ['messageAdded', 'textAppended', 'textAppended', 'messageFinished', 'turnEnded'],
    );
    assert.equal(run.stopReason, 'complete');
  });

  it('keeps reasoning and usage', async () => {
    const usage = { inputTokens: 3, outputTokens: 4 };
    const model = new ScriptedModel(
      events({ type: 'reasoning', text: 'Hm.' }, { type: 'text', text: 'Yes' }, { type: 'finish', usage }),
    );
    const { state } = await runWith(model);
    assert.deepEqual(
      state.messages.map((row) => [row.reasoning, row.text, row.usage, row.modelId]),
      [['Hm.', 'Yes', usage, 'test/scripted']],
    );
  });

  it('runs tools and asks again with their results, exactly as the stored rows would be projected', async () => {
    const model = new ScriptedModel(
      events(
        { type: 'text', text: 'Let me see.' },
        call('echo', '{"word":"a"}', 'a'),
        call('echo', '{"word":"b"}', 'b'),
        finish,
      ),
      text('Done'),
    );
    const { state, stopReason } = await runWith(model, { tools: [echo] });
    assert.deepEqual(rows(state), [
      {
        seq: 2,
        role: 'assistant',
        status: 'complete',
        text: 'Let me see.',
        calls: ['a echo', 'b echo'],
      },
      { seq: 3, role: 'tool', status: 'complete', text: 'echo a', toolCallId: 'a' },
      { seq: 4, role: 'tool', status: 'complete', text: 'echo b', toolCallId: 'b' },
      { seq: 5, role: 'assistant', status: 'complete', text: 'Done' },
    ]);
    assert.equal(stopReason, 'complete');
    assert.deepEqual(model.requests[1]?.messages.slice(1), toModelMessages(state.messages.slice(0, 3)));
    assert.deepEqual(
      model.requests[0]?.tools.map((tool) => tool.name),
      ['echo'],
    );
  });

  for (const [what, event, expected] of [
    ['malformed arguments', call('echo', '{"word":'), /not valid JSON/],
    ['arguments of the wrong shape', call('echo', '{"word":1}'), /word: .*Call it again/],
    ['a tool that does not exist', call('fly', '{}'), /no tool named fly\. Available: echo/],
  ] as const) {
    it(`answers ${what} with a failed tool row and lets the model go on`, async () => {
      const model = new ScriptedModel(events(event, finish), text('Sorry'));
      const { state, stopReason } = await runWith(model, { tools: [echo] });
      assert.deepEqual(
        state.messages.map((row) => row.status),
        ['complete', 'error', 'complete'],
      );
      assert.match(state.messages[1]?.text ?? '', expected);
      assert.equal(stopReason, 'complete');
      const told = model.requests[1]?.messages.at(-1);
      assert.equal(told?.role === 'tool' && told.isError, true);
    });
  }

  it('turns a tool that throws into a failed tool row', async () => {
    const broken: Tool = {
      name: 'broken',
      description: '',
      parameters: {},
      run: () => Promise.reject(new Error('disk on fire')),
    };
    const model = new ScriptedModel(events(call('broken', ''), finish), text('Oh'));
    const { state } = await runWith(model, { tools: [broken] });
    assert.equal(state.messages[1]?.text, 'broken failed: disk on fire');
  });

  it('gives calls whose id was used before an id of their own', async () => {
    const model = new ScriptedModel(
      events(call('echo', '{"word":"a"}', 'call_0'), finish),
      events(call('echo', '{"word":"b"}', 'call_0'), call('echo', '{"word":"c"}', ''), finish),
      text('Done'),
    );
    const { state } = await runWith(model, { tools: [echo] });
    const calls = state.messages.flatMap((row) => row.toolCalls.map(({ id }) => id));
    assert.equal(new Set(calls).size, 3);
    assert.deepEqual(
      toModelMessages(state.messages).flatMap((message) => (message.role === 'tool' ? [message.text] : [])),
      ['echo a', 'echo b', 'echo c'],
    );
  });

  it('ends with a plain problem when the model calls tools for ever', async () => {
    const model = new ScriptedModel(events(call('echo', '{"word":"a"}'), finish));
    const { state, stopReason } = await runWith(model, { tools: [echo], maxSteps: 3 });
    assert.equal(model.requests.length, 3);
    assert.equal(stopReason, 'error');
    assert.deepEqual(state.messages.at(-1)?.problem?.reason, 'step_limit');
    assert.match(state.messages.at(-1)?.problem?.message ?? '', /3 times in a row.*Continue/);
  });

  it('says so when an answer is empty', async () => {
    const { state, stopReason } = await runWith(new ScriptedModel(text()));
    assert.deepEqual(rows(state), [
      { seq: 2, role: 'assistant', status: 'error', text: '', problem: 'empty_answer' },
    ]);
    assert.equal(stopReason, 'error');
  });
});

describe('a turn whose model fails', () => {
  const cases: [ModelErrorReason, string[], 'error' | 'interrupted'][] = [
    ['truncated', ['Some'], 'interrupted'],
    ['stalled', ['Some'], 'interrupted'],
    ['truncated', [], 'error'],
    ['stalled', [], 'error'],
    ['provider', ['Some'], 'error'],
    ['unreachable', [], 'error'],
    ['authentication', [], 'error'],
    ['rate_limited', [], 'error'],
    ['context_full', ['Some'], 'error'],
  ];
  for (const [reason, pieces, status] of cases) {
    it(`${reason} after ${pieces.length} pieces of text: ${status}, text kept, problem said`, async () => {
      const model = new ScriptedModel(async function* () {
        for (const piece of pieces) yield { type: 'text', text: piece } as const;
        await Promise.resolve();
        throw new ModelError(reason, 'A sentence.');
      });
      const { state, stopReason } = await runWith(model);
      assert.deepEqual(
        state.messages.map((row) => [row.status, row.text, row.problem]),
        [[status, pieces.join(''), { reason, message: 'A sentence.' }]],
      );
      assert.equal(stopReason, 'error');
    });
  }

  it('never throws: an unknown error becomes a problem too', async () => {
    const model = new ScriptedModel(() => {
      throw new TypeError('undefined is not a function');
    });
    const { state, stopReason } = await runWith(model);
    assert.equal(state.messages[0]?.problem?.reason, 'internal');
    assert.equal(stopReason, 'error');
  });

  it('takes a stream that ends without a finish as cut off, and runs none of its calls', async () => {
    const model = new ScriptedModel(events(call('echo', '{"word":"a"}')));
    const { state } = await runWith(model, { tools: [echo] });
    assert.deepEqual(rows(state), [
      {
        seq: 2,
        role: 'assistant',
        status: 'interrupted',
        text: '',
        calls: ['call-1 echo'],
        problem: 'truncated',
      },
    ]);
  });
});

describe('Stop', () => {
  const story = [
    events(
      { type: 'reasoning', text: 'Hm' },
      { type: 'text', text: 'Look' },
      call('echo', '{"word":"a"}'),
      finish,
    ),
    events({ type: 'text', text: 'again' }, call('stuck', '{}', 'call-2'), finish),
  ];

  it('leaves every row in a terminal status wherever it comes, also inside a tool that ignores it', async () => {
    const count = 14;
    let stuckRuns = 0;
    for (let stopAt = 1; stopAt <= count; stopAt += 1) {
      const controller = new AbortController();
      let seen = 0;
      const run = await runWith(new ScriptedModel(...story), {
        tools: [echo, makeStuckTool()],
        signal: controller.signal,
        onEvent: (event) => {
          seen += 1;
          if (event.type === 'messageAdded' && event.message.toolName === 'stuck') {
            stuckRuns += 1;
            setImmediate(() => controller.abort());
          }
          if (seen === stopAt) controller.abort();
        },
      });
      assert.equal(run.stopReason, 'stopped', `stopped at event ${stopAt}`);
      assert.deepEqual(
        run.state.messages.filter((row) => row.status === 'streaming'),
        [],
      );
      assert.equal(run.events.filter((event) => event.type === 'turnEnded').length, 1);
      assert.equal(run.events.at(-1)?.type, 'turnEnded');
    }
    assert.ok(stuckRuns > 0);
  });

  it('keeps the text that came and does not wait for a model that ignores it', async () => {
    const controller = new AbortController();
    const model = new ScriptedModel(async function* () {
      yield { type: 'text', text: 'Half an ans' };
      await never();
    });
    const run = await runWith(model, {
      signal: controller.signal,
      onEvent: (event) => {
        if (event.type === 'textAppended') controller.abort();
      },
    });
    assert.deepEqual(rows(run.state), [
      { seq: 2, role: 'assistant', status: 'interrupted', text: 'Half an ans' },
    ]);
  });

  it('before the first byte ends the turn with an interrupted row and asks no model', async () => {
    const model = new ScriptedModel(text('never'));
    const { state, stopReason } = await runWith(model, { signal: AbortSignal.abort() });
    assert.deepEqual([stopReason, model.requests.length], ['stopped', 0]);
    assert.deepEqual(rows(state), [{ seq: 2, role: 'assistant', status: 'interrupted', text: '' }]);
  });
});
