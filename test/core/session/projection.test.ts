import assert from 'node:assert/strict';
import { makeMessage, type Message } from '../../../src/core/session/model.ts';
import {
  continuePrompt,
  interruptedToolResult,
  toModelMessages,
} from '../../../src/core/session/projection.ts';

let seq = 0;
function row(role: Message['role'], overrides: Partial<Message>): Message {
  seq += 1;
  return makeMessage({ id: `m${seq}`, sessionId: 's', seq, role, createdAt: seq, ...overrides });
}
const call = { id: 'c1', name: 'read_file', arguments: '{"path":"a.ts"}' };

describe('What a model is given of a chat', () => {
  it('is the plain conversation, with each result behind its call', () => {
    const projected = toModelMessages([
      row('user', { text: 'What is in a.ts?' }),
      row('assistant', { text: 'I look.', reasoning: 'hm', toolCalls: [call] }),
      row('tool', { text: 'let a = 1;', toolCallId: 'c1', toolName: 'read_file' }),
      row('assistant', { text: 'A variable.' }),
    ]);
    assert.deepEqual(projected, [
      { role: 'user', text: 'What is in a.ts?' },
      { role: 'assistant', text: 'I look.', reasoning: 'hm', toolCalls: [call] },
      { role: 'tool', toolCallId: 'c1', toolName: 'read_file', text: 'let a = 1;', isError: false },
      { role: 'assistant', text: 'A variable.', reasoning: '', toolCalls: [] },
    ]);
  });

  it('carries a made-up result for a tool call that was cut off by a crash', () => {
    const projected = toModelMessages([
      row('user', { text: 'What is in a.ts?' }),
      row('assistant', { toolCalls: [call], status: 'interrupted' }),
      row('tool', { text: 'let', toolCallId: 'c1', toolName: 'read_file', status: 'interrupted' }),
      row('user', { text: 'Well?' }),
    ]);
    assert.deepEqual(projected, [
      { role: 'user', text: 'What is in a.ts?' },
      { role: 'assistant', text: '', reasoning: '', toolCalls: [call] },
      { role: 'tool', toolCallId: 'c1', toolName: 'read_file', text: interruptedToolResult, isError: true },
      { role: 'user', text: 'Well?' },
    ]);
  });

  it('never contains the text of an error, nor rows that a retry replaced or that were not sent', () => {
    const projected = toModelMessages([
      row('user', { text: 'One' }),
      row('assistant', { status: 'error', problem: { reason: 'provider', message: 'Secret trouble' } }),
      row('assistant', { text: 'Half an', active: false, status: 'interrupted' }),
      row('user', { text: 'Two' }),
      row('user', { text: 'Queued', status: 'not_sent' }),
    ]);
    assert.deepEqual(projected, [{ role: 'user', text: 'One\n\nTwo' }]);
  });

  it('asks for the rest between an answer that was cut off and its continuation', () => {
    const projected = toModelMessages([
      row('user', { text: 'Count' }),
      row('assistant', { text: '1, 2', status: 'interrupted' }),
      row('assistant', { text: ', 3', status: 'complete' }),
    ]);
    assert.deepEqual(
      projected.map((message) => [message.role, message.text]),
      [
        ['user', 'Count'],
        ['assistant', '1, 2'],
        ['user', continuePrompt],
        ['assistant', ', 3'],
      ],
    );
  });

  it('gives a summary as context from the user', () => {
    assert.deepEqual(
      toModelMessages([row('summary', { text: 'They met.' }), row('user', { text: 'And then?' })]),
      [{ role: 'user', text: 'Summary of the conversation so far:\nThey met.\n\nAnd then?' }],
    );
  });
});
