/** Chats in the states that a user meets, for screenshots and for the accessibility suite. */
import type { ChatState } from '../../../src/core/session/reducer.ts';
import { makeMessage, type Message } from '../../../src/core/session/model.ts';
import { makeAnswer, makePrompt, makeTestSession, makeToolRow, testSessionId } from './builders.ts';
import type { OpenOptions } from './panelPage.ts';

const answerText = `The booking limit is set in \`src/config.ts:12\` and read by [the booking service](src/booking/service.ts#L40).

## How it works

1. \`loadConfig\` reads the environment
2. the service compares it with the *open* bookings
   - nothing is cached
   - a missing value means **no limit**

\`\`\`ts
// Called once per request
export async function mayBook(customer: Customer, limit = 3): Promise<boolean> {
  const open = await bookings.count({ customer: customer.id, state: "open" });
  return open < limit || customer.isStaff === true;
}
\`\`\`

| Setting | Default | Where |
| --- | :-: | --- |
| \`BOOKING_LIMIT\` | 3 | [config.ts](src/config.ts) |
| \`BOOKING_HOLD\` | 15 min | [config.ts](src/config.ts) |

- [x] the limit is enforced
- [ ] it is not yet shown to the customer

> A customer with an overdue bicycle cannot book, whatever the limit. See https://example.com/rules.`;

const question = makePrompt({
  id: 'p1',
  seq: 1,
  text: 'Where is the booking limit set, and what happens without one?',
});
const search = makeAnswer({
  id: 'a1',
  seq: 2,
  text: 'I will look for it in the workspace.',
  toolCalls: [
    { id: 'c1', name: 'searchText', arguments: '{"query":"booking limit","maximum":20}' },
    { id: 'c2', name: 'readFile', arguments: '{"path":"src/config.ts"}' },
  ],
});
const results = [
  makeToolRow({
    id: 't1',
    seq: 3,
    toolCallId: 'c1',
    toolName: 'searchText',
    text: 'src/config.ts:12: bookingLimit',
    finishedAt: Date.UTC(2026, 0, 5, 9, 0, 3) + 42,
  }),
  makeToolRow({
    id: 't2',
    seq: 4,
    toolCallId: 'c2',
    toolName: 'readFile',
    status: 'error',
    text: 'There is no file src/config.ts.',
    finishedAt: Date.UTC(2026, 0, 5, 9, 0, 4) + 1300,
  }),
];
const answer = makeAnswer({
  id: 'a2',
  seq: 5,
  text: answerText,
  reasoning: 'The user wants the place and the default.',
  usage: { inputTokens: 1830, outputTokens: 412 },
});

const whole: readonly Message[] = [question, search, ...results, answer];

function failed(status: 'error' | 'interrupted', reason: string, message: string): OpenOptions {
  const last = makeAnswer({
    id: 'a4',
    seq: 7,
    status,
    text: status === 'error' ? '' : 'The customer sees the limit on the',
    problem: { reason, message },
  });
  return { messages: [...whole, makePrompt({ id: 'p2', seq: 6, text: 'And where is it shown?' }), last] };
}

const running: Partial<ChatState> = {
  turn: { id: 'turn-1', startedAt: 0, phase: 'streaming' },
  unsaved: ['a4'],
};

export const samples: Readonly<Record<string, OpenOptions>> = {
  empty: {},
  chooser: {
    sessionId: '',
    choices: [
      { sessionId: 's1', title: 'The booking limit', detail: 'holdfast, 12 minutes ago' },
      { sessionId: 's2', title: '', detail: 'Draft, yesterday' },
      {
        sessionId: 's3',
        title: 'Release notes for May, and what was left out of them',
        detail: 'bicycles, 3 days ago',
      },
    ],
  },
  chooserEmpty: { sessionId: '', choices: [] },
  answer: { messages: whole },
  streaming: {
    messages: [
      ...whole,
      makePrompt({ id: 'p2', seq: 6, text: 'Show me the code that checks it.' }),
      makeAnswer({
        id: 'a4',
        seq: 7,
        status: 'streaming',
        finishedAt: null,
        text: 'It is one comparison:\n\n```ts\nreturn open < limit',
      }),
    ],
    chat: running,
  },
  error: failed(
    'error',
    'unreachable',
    'Llama 3.3 cannot be reached at http://127.0.0.1:11434 (connection refused). Start the server, or choose another model, then press Retry.',
  ),
  interrupted: failed('interrupted', 'truncated', 'The connection ended before the answer was finished.'),
  archived: {
    messages: whole,
    chat: { session: makeTestSession({ endedAt: 1, endReason: 'archived' }) },
  },
  elsewhere: {
    ...failed('interrupted', 'truncated', 'The connection ended before the answer was finished.'),
    chat: { owner: 'elsewhere' },
    draft: { text: 'words of this panel', caret: 0, scroll: null, editedAt: 1 },
  },
  otherFolder: { messages: whole, chat: { owner: 'elsewhere', folder: '/home/me/other/holdfast-chats' } },
  summary: {
    messages: [
      ...whole,
      makeMessage({
        id: 's1',
        sessionId: testSessionId,
        seq: 1,
        role: 'summary',
        createdAt: 0,
        text: 'They found the booking limit in `src/config.ts` and talked about who may pass it.',
      }),
      { ...answer, id: 'copy', seq: 2, copyOf: 'a2' },
      makePrompt({ id: 'p3', seq: 3, text: 'Where were we?' }),
      makeAnswer({ id: 'a5', seq: 4, text: 'At the booking limit.' }),
    ],
  },
  notSaved: {
    messages: whole,
    chat: {
      unsaved: ['p1', 'a2'],
      savingProblem: {
        reason: 'disk_full',
        message: 'The disk that holds your chats is full. Free some space, then press Save Again.',
      },
    },
  },
  branches: {
    messages: [
      ...whole,
      makePrompt({ id: 'p2', seq: 6, text: 'And where is it shown?' }),
      makeAnswer({ id: 'a4', seq: 7, text: 'On the page of the customer, in `src/pages/customer.ts:31`.' }),
    ],
    chat: {
      forks: [
        { after: 'a2', chats: ['session-0', testSessionId, 'session-2'], current: 1 },
        { after: 'a4', chats: [testSessionId, 'session-3'], current: 0 },
      ],
    },
  },
  unreadable: {
    messages: [
      { ...question, text: '', contents: 'unreadable' },
      search,
      {
        ...makeToolRow({ id: 't1', seq: 3, toolCallId: 'c1', toolName: 'searchText' }),
        contents: 'unreadable',
      },
      { ...answer, text: '', reasoning: '', contents: 'unreadable' },
      makePrompt({ id: 'p2', seq: 6, text: 'And what can be read?' }),
      makeAnswer({ id: 'a4', seq: 7, text: 'Everything else.' }),
    ],
  },
  earlierAttempt: {
    messages: [
      question,
      makeAnswer({ id: 'x1', seq: 2, status: 'error', text: 'Half an answer', active: false }),
      { ...answer, seq: 3, reasoning: '', text: 'In `src/config.ts:12`.' },
    ],
  },
};
