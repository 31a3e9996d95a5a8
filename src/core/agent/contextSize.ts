/** How much of a model's context a chat takes, and which part of it to keep when that is too much. */
import { byteLength } from '../session/text.ts';
import type { Message } from '../session/model.ts';

/** Models differ; four bytes of UTF-8 to a token is close for prose and code, and not far off for other scripts. */
const bytesPerToken = 4;
/** Role, separators and ids around each message. */
const tokensPerMessage = 4;

/** An estimate, without a model's own tokenizer. */
export function estimateTokens(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + tokensOf(message), 0);
}

function tokensOf(message: Message): number {
  const calls = message.toolCalls.map((call) => call.name + call.arguments).join('');
  return tokensPerMessage + Math.ceil(byteLength(message.text + calls) / bytesPerToken);
}

/**
 * The newest whole turns that fit into `budget` tokens, out of what a model is given. It starts at a prompt, so a tool call
 * is never parted from its result. The first turn is never among them: something has to be left out. `withContents` is asked
 * for no more of them than are weighed.
 */
export function recentTurns(
  messages: readonly Message[],
  budget: number,
  withContents: (message: Message) => Message = (message) => message,
): readonly Message[] {
  const first = messages.findIndex(({ role }) => role === 'user');
  let start = messages.length;
  let tokens = 0;
  for (let index = messages.length - 1; index > first; index--) {
    const message = messages[index];
    if (message === undefined) continue;
    tokens += tokensOf(withContents(message));
    if (tokens > budget) break;
    if (message.role === 'user') start = index;
  }
  return messages.slice(start);
}
