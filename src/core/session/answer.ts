import type { Message } from './model.ts';

/** The last row of the answer to a prompt; null: nothing answered it yet, or there is no such prompt. */
export function answerTo(messages: readonly Message[], promptId: string): Message | null {
  const prompt = messages.findIndex(({ id }) => id === promptId);
  if (prompt < 0) return null;
  return messages.slice(prompt).findLast(({ role }) => role === 'assistant') ?? null;
}
