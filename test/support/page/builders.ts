import type { ChatEvent } from '../../../src/core/session/events.ts';
import { makeMessage, makeSession, type Message, type Session } from '../../../src/core/session/model.ts';

export const testSessionId = 'session-1';
const firstDay = Date.UTC(2026, 0, 5, 9, 0, 0);

export function makeTestSession(overrides: Partial<Session> = {}): Session {
  return makeSession({
    id: testSessionId,
    source: 'panel',
    createdAt: firstDay,
    title: 'A chat',
    ...overrides,
  });
}

type Overrides = Partial<Message> & { readonly id: string };

function makeRow(role: Message['role'], overrides: Overrides): Message {
  const seq = overrides.seq ?? 1;
  const createdAt = firstDay + seq * 1000;
  return makeMessage({ sessionId: testSessionId, seq, role, createdAt, finishedAt: createdAt, ...overrides });
}

export const makePrompt = (overrides: Overrides): Message => makeRow('user', overrides);
export const makeAnswer = (overrides: Overrides): Message =>
  makeRow('assistant', { modelId: 'offline', ...overrides });
export const makeToolRow = (overrides: Overrides): Message => makeRow('tool', overrides);

/** `count` messages, prompts and answers in turn: `m1`, `m2`, … */
export function makeTranscript(
  count: number,
  text = (number: number) => `Message number ${number}`,
): Message[] {
  return Array.from({ length: count }, (_, index) => {
    const overrides = { id: `m${index + 1}`, seq: index + 1, text: text(index + 1) };
    return index % 2 === 0 ? makePrompt(overrides) : makeAnswer(overrides);
  });
}

/** The events of an answer up to its first token. */
export function startAnswer(id: string, seq: number): ChatEvent[] {
  return [
    { type: 'turnStarted', turn: { id: `turn-${id}`, startedAt: firstDay, phase: 'waiting' } },
    { type: 'messageAdded', message: makeAnswer({ id, seq, status: 'streaming', finishedAt: null }) },
  ];
}

export const appendText = (id: string, text: string): ChatEvent => ({ type: 'textAppended', id, text });

export function finishAnswer(id: string): ChatEvent[] {
  return [
    {
      type: 'messageFinished',
      id,
      status: 'complete',
      problem: null,
      usage: null,
      finishedAt: firstDay + 60_000,
    },
    { type: 'messagesSaved', ids: [id] },
    { type: 'turnEnded', stopReason: 'complete' },
  ];
}
