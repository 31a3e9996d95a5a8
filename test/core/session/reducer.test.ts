import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ChatEvent } from '../../../src/core/session/events.ts';
import { makeMessage, makeSession } from '../../../src/core/session/model.ts';
import { makeChatState, reduce, type ChatState } from '../../../src/core/session/reducer.ts';

const session = makeSession({ id: 's', source: 'panel', createdAt: 1 });
const prompt = makeMessage({ id: 'p', sessionId: 's', seq: 1, role: 'user', createdAt: 1, text: 'Hello' });
const answer = makeMessage({
  id: 'a',
  sessionId: 's',
  seq: 2,
  role: 'assistant',
  createdAt: 2,
  status: 'streaming',
});

function play(events: readonly ChatEvent[], from: ChatState = makeChatState(session)): ChatState {
  return events.reduce(reduce, from);
}

describe('The reducer', () => {
  it('plays a whole turn', () => {
    const state = play([
      { type: 'messageAdded', message: prompt },
      { type: 'messagesSaved', ids: ['p'] },
      { type: 'turnStarted', turn: { id: 't', startedAt: 2, phase: 'waiting' } },
      { type: 'messageAdded', message: answer },
      { type: 'reasoningAppended', id: 'a', text: 'hm' },
      { type: 'textAppended', id: 'a', text: 'Hi ' },
      { type: 'textAppended', id: 'a', text: 'there' },
      { type: 'toolCallAdded', id: 'a', call: { id: 'c', name: 'read_file', arguments: '{}' } },
      {
        type: 'messageFinished',
        id: 'a',
        status: 'complete',
        problem: null,
        usage: { inputTokens: 3, outputTokens: 4 },
        finishedAt: 9,
      },
      { type: 'turnEnded', stopReason: 'complete' },
    ]);
    assert.deepEqual(state, {
      session,
      messages: [
        prompt,
        {
          ...answer,
          status: 'complete',
          reasoning: 'hm',
          text: 'Hi there',
          toolCalls: [{ id: 'c', name: 'read_file', arguments: '{}' }],
          usage: { inputTokens: 3, outputTokens: 4 },
          finishedAt: 9,
        },
      ],
      hasOlder: false,
      unsaved: ['a'],
      turn: null,
      owner: 'here',
      folder: null,
      forks: [],
      savingProblem: null,
    });
  });

  it('shows a message once however often it is added', () => {
    const state = play([
      { type: 'messageAdded', message: prompt },
      { type: 'messageAdded', message: prompt },
    ]);
    assert.deepEqual(state.messages, [prompt]);
  });

  it('ignores what concerns a message it does not know', () => {
    const before = makeChatState(session, [prompt]);
    assert.deepEqual(play([{ type: 'textAppended', id: 'unknown', text: 'x' }], before), before);
  });

  it('goes from waiting to streaming with the first text, and to stopping when asked', () => {
    const phases = ['waiting'];
    let state = play([
      { type: 'turnStarted', turn: { id: 't', startedAt: 2, phase: 'waiting' } },
      { type: 'messageAdded', message: answer },
    ]);
    for (const event of [
      { type: 'textAppended', id: 'a', text: 'x' },
      { type: 'turnStopping' },
      { type: 'textAppended', id: 'a', text: 'y' },
    ] satisfies ChatEvent[]) {
      state = reduce(state, event);
      phases.push(state.turn?.phase ?? 'none');
    }
    assert.deepEqual(phases, ['waiting', 'streaming', 'stopping', 'stopping']);
  });

  it('puts older messages in front, without repeating one', () => {
    const older = makeMessage({
      id: 'o',
      sessionId: 's',
      seq: 0,
      role: 'user',
      createdAt: 0,
      text: 'Earlier',
    });
    const state = play(
      [{ type: 'olderLoaded', messages: [older, prompt], hasOlder: true }],
      makeChatState(session, [prompt]),
    );
    assert.deepEqual([state.messages, state.hasOlder], [[older, prompt], true]);
  });

  it('keeps the rows that a retry replaced, as inactive', () => {
    const state = play(
      [{ type: 'messagesSuperseded', ids: ['a'] }],
      makeChatState(session, [prompt, answer]),
    );
    assert.deepEqual(state.messages, [prompt, { ...answer, active: false }]);
  });

  it('gives a viewer that joins at any moment what one that was there from the start sees', () => {
    const chunk = fc.record({ text: fc.string(), isReasoning: fc.boolean() });
    fc.assert(
      fc.property(fc.array(chunk), fc.nat(), (chunks, joinAt) => {
        const events: ChatEvent[] = [
          { type: 'messageAdded', message: answer },
          ...chunks.map(({ text, isReasoning }): ChatEvent => ({
            type: isReasoning ? 'reasoningAppended' : 'textAppended',
            id: 'a',
            text,
          })),
        ];
        const cut = joinAt % (events.length + 1);
        const snapshot = play(events.slice(0, cut));
        assert.deepEqual(play(events.slice(cut), snapshot), play(events));
      }),
    );
  });
});
