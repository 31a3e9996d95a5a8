import assert from 'node:assert/strict';
import { differences } from '../../../src/core/session/difference.ts';
import type { ChatEvent } from '../../../src/core/session/events.ts';
import { makeMessage, type Message } from '../../../src/core/session/model.ts';

const call = { id: 'call', name: 'readFile', arguments: '{}' };
const begun = makeMessage({
  id: 'm',
  sessionId: 's',
  seq: 1,
  role: 'assistant',
  createdAt: 5,
  status: 'streaming',
});
const said: Message = { ...begun, text: 'one', reasoning: 'hm', toolCalls: [call] };
const done: Message = { ...said, status: 'complete', finishedAt: 9 };
const saved: ChatEvent = { type: 'messagesSaved', ids: ['m'] };
const superseded: ChatEvent = { type: 'messagesSuperseded', ids: ['m'] };
const left = (message: Message): Message => ({
  ...message,
  text: '',
  reasoning: '',
  toolCalls: [],
  contents: 'left',
});

describe('What became of a transcript that somebody else writes', () => {
  const changes = (before: Message, after: Message): ChatEvent[] | null => differences([before], [after]);

  it('is nothing where nothing changed, and what is new where it was not there', () => {
    assert.deepEqual(changes(done, done), []);
    assert.deepEqual(changes(said, said), []);
    assert.deepEqual(differences([done], []), []);
    assert.deepEqual(differences([], [done]), [{ type: 'messageAdded', message: done }, saved]);
    const next = { ...begun, id: 'next' };
    assert.deepEqual(differences([done], [done, next]), [{ type: 'messageAdded', message: next }]);
  });

  it('is what was added to a message, and how it ended', () => {
    assert.deepEqual(changes(begun, said), [
      { type: 'reasoningAppended', id: 'm', text: 'hm' },
      { type: 'textAppended', id: 'm', text: 'one' },
      { type: 'toolCallAdded', id: 'm', call },
    ]);
    const second = { ...call, id: 'second' };
    const longer = { ...said, text: 'one, two', reasoning: 'hm, so', toolCalls: [call, second] };
    assert.deepEqual(changes(said, longer), [
      { type: 'reasoningAppended', id: 'm', text: ', so' },
      { type: 'textAppended', id: 'm', text: ', two' },
      { type: 'toolCallAdded', id: 'm', call: second },
    ]);
    const usage = { inputTokens: 1, outputTokens: 2 };
    const problem = { reason: 'provider', message: 'Out of order.' };
    const end = { status: 'error', problem, usage } as const;
    const finished = (finishedAt: number) => ({ type: 'messageFinished', id: 'm', ...end, finishedAt });
    assert.deepEqual(changes(said, { ...said, ...end, finishedAt: 9 }), [finished(9), saved]);
    assert.deepEqual(changes(said, { ...said, ...end, finishedAt: null }), [finished(5), saved]);
  });

  it('is that a retry replaced it, with whatever else happened to it until then', () => {
    const replaced = { ...done, active: false };
    assert.deepEqual(changes(done, replaced), [superseded, saved]);
    assert.deepEqual(changes({ ...said, text: '' }, replaced), [
      { type: 'textAppended', id: 'm', text: 'one' },
      { type: 'messageFinished', id: 'm', status: 'complete', problem: null, usage: null, finishedAt: 9 },
      superseded,
      saved,
    ]);
    assert.deepEqual(changes(replaced, replaced), []);
  });

  it('is seen also of a message whose contents are left in the store, once it was finished', () => {
    assert.deepEqual(changes(done, left(done)), []);
    assert.deepEqual(changes(left(done), left(done)), []);
    assert.deepEqual(changes(left(done), { ...left(done), active: false }), [superseded, saved]);
  });

  it('cannot be told where it is no addition: then all is read again', () => {
    assert.equal(changes(said, { ...said, text: 'two' }), null);
    assert.equal(changes(said, { ...said, reasoning: 'ah' }), null);
    assert.equal(changes({ ...done, active: false }, done), null);
    assert.equal(differences([done], [{ ...done, id: 'other' }]), null);
    assert.equal(
      differences(
        [done, said],
        [
          { ...said, text: 'two' },
          { ...begun, id: 'next' },
        ],
      ),
      null,
    );
    assert.equal(changes(said, left(done)), null, 'what it ended with is not known');
    assert.equal(changes(left(done), done), null);
    assert.equal(changes(done, { ...left(done), contents: 'unreadable' }), null);
  });
});
