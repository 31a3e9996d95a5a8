import assert from 'node:assert/strict';
import { estimateTokens, recentTurns } from '../../../src/core/agent/contextSize.ts';
import { Digest } from '../../../src/core/agent/digest.ts';
import { makeMessage, type Message } from '../../../src/core/session/model.ts';

function message(role: Message['role'], text: string, overrides: Partial<Message> = {}): Message {
  return makeMessage({ id: text, sessionId: 's', seq: 1, role, createdAt: 1, text, ...overrides });
}

function reads(path: unknown): Message {
  const call = {
    id: 'c',
    name: 'readFile',
    arguments: typeof path === 'string' ? JSON.stringify({ path }) : '{"pa',
  };
  return message('assistant', '', { toolCalls: [call] });
}

function digest(messages: readonly Message[]): string {
  const made = new Digest();
  for (const message of messages) made.add(message);
  return made.text;
}

describe('The digest of a chat', () => {
  it('names the goal, the files, the decisions and where things stand, in the words of the chat', () => {
    const messages = [
      message('user', 'Make the brakes stronger.\n\nNever touch the frame.'),
      reads('src/brakes.ts'),
      message('tool', 'file contents that must not be quoted'),
      message('assistant', 'We will use discs instead of rims. Fine.\n```\n// always keep this\n```'),
      message('user', 'Go on'),
      reads('src/discs.ts'),
      reads('src/brakes.ts'),
      message('user', 'And the lights?'),
      message('user', 'Is it done?'),
      message('assistant', 'The discs are in; the lights are next.'),
    ];
    assert.equal(
      digest(messages),
      `Goal:
- Make the brakes stronger. Never touch the frame.
- Go on
- And the lights?

Files touched:
- src/discs.ts
- src/brakes.ts

Decisions:
- Never touch the frame.
- We will use discs instead of rims.

Last state:
- User: Is it done?
- Assistant: The discs are in; the lights are next.`,
    );
  });

  const nothing: [name: string, messages: Message[]][] = [
    ['a chat without messages', []],
    ['prompts without words', [message('user', ' \n')]],
    ['the text of an error', [message('assistant', '', { problem: { reason: 'r', message: 'It broke' } })]],
    ['what a retry replaced', [message('assistant', 'Wrong', { active: false })]],
    ['what was never sent', [message('user', 'Not sent', { status: 'not_sent' })]],
    ['an earlier summary', [message('summary', 'Goal: x')]],
    ['malformed arguments of a tool', [reads(null)]],
  ];
  for (const [name, messages] of nothing) {
    it(`holds nothing of ${name}`, () => assert.equal(digest(messages), ''));
  }

  it('is bounded, and cuts no character', () => {
    const long = Array.from({ length: 200 }, (_, index) => [
      message('user', `We must always keep ${index} ${'👍'.repeat(5000)}`),
      reads(`src/${index}.ts`),
      message('assistant', 'x'.repeat(100_000)),
    ]).flat();
    const text = digest(long);
    assert.ok(text.length < 8000, String(text.length));
    assert.equal(Buffer.from(text).toString(), text);
    assert.match(text, /src\/199\.ts/);
  });
});

describe('What to keep of a chat', () => {
  const turn = (name: string, length: number): Message[] => [
    message('user', name),
    message('assistant', 'a'.repeat(length)),
    message('tool', 'b'),
    message('assistant', 'c'),
  ];
  const names = (messages: readonly Message[]): string[] =>
    messages.filter(({ role }) => role === 'user').map(({ text }) => text);
  const chat = [...turn('one', 400), ...turn('two', 400), ...turn('three', 400)];
  const oneTurn = estimateTokens(turn('three', 400));

  it('is counted in about four bytes to a token, tool calls included', () => {
    assert.deepEqual(
      [
        estimateTokens([]),
        estimateTokens([message('user', 'a'.repeat(400))]),
        estimateTokens([message('user', 'é'.repeat(400))]),
        estimateTokens([reads('x'.repeat(400))]) > 100,
      ],
      [0, 104, 204, true],
    );
  });

  for (const [budget, kept] of [
    [0, []],
    [oneTurn - 1, []],
    [oneTurn, ['three']],
    [2 * oneTurn, ['two', 'three']],
    [Number.POSITIVE_INFINITY, ['two', 'three']],
  ] as const) {
    it(`for ${budget} tokens is ${kept.length} whole turns, never the first`, () => {
      const turns = recentTurns(chat, budget);
      assert.deepEqual(names(turns), kept);
      assert.equal(turns.length, 4 * kept.length);
    });
  }
});
