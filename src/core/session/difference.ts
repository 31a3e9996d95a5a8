/**
 * What happened to a transcript that somebody else writes, as events: so a window that only follows shows the same stream
 * as the one that writes.
 */
import type { ChatEvent } from './events.ts';
import type { Message } from './model.ts';

/**
 * Events that turn `known` into `newest`, where `newest` is the end of the stored transcript. Null when they cannot say it
 * (a message vanished or changed otherwise): then the whole state must be read again.
 */
export function differences(known: readonly Message[], newest: readonly Message[]): ChatEvent[] | null {
  const byId = new Map(known.map((message) => [message.id, message]));
  const overlaps = newest.some((message) => byId.has(message.id));
  if (known.length > 0 && newest.length > 0 && !overlaps) return null;
  const events: ChatEvent[] = [];
  for (const message of newest) {
    const before = byId.get(message.id);
    if (before === undefined) {
      events.push({ type: 'messageAdded', message });
      if (message.status !== 'streaming') events.push({ type: 'messagesSaved', ids: [message.id] });
      continue;
    }
    const changes = changesOf(before, message);
    if (changes === null) return null;
    events.push(...changes);
  }
  return events;
}

function withoutContents(message: Message): Message {
  return { ...message, text: '', reasoning: '', toolCalls: [], contents: 'here' };
}

function changesOf(before: Message, after: Message): ChatEvent[] | null {
  const { id } = after;
  // Contents left in their file are those of a message that was finished, and do not change any more.
  const isLeft = after.contents === 'left' && before.status !== 'streaming';
  if (!isLeft && before.contents !== after.contents) return null;
  if (isLeft) return changesOf(withoutContents(before), withoutContents(after));
  if (!after.text.startsWith(before.text) || !after.reasoning.startsWith(before.reasoning)) return null;
  if (after.active && !before.active) return null;
  const events: ChatEvent[] = [];
  const reasoning = after.reasoning.slice(before.reasoning.length);
  if (reasoning !== '') events.push({ type: 'reasoningAppended', id, text: reasoning });
  const text = after.text.slice(before.text.length);
  if (text !== '') events.push({ type: 'textAppended', id, text });
  for (const call of after.toolCalls.slice(before.toolCalls.length)) {
    events.push({ type: 'toolCallAdded', id, call });
  }
  if (before.status !== after.status) {
    const { status, problem, usage } = after;
    const finishedAt = after.finishedAt ?? after.createdAt;
    events.push({ type: 'messageFinished', id, status, problem, usage, finishedAt });
  }
  if (before.active !== after.active) events.push({ type: 'messagesSuperseded', ids: [id] });
  // All of it came from the store, so all of it is saved.
  if (events.length > 0 && after.status !== 'streaming') events.push({ type: 'messagesSaved', ids: [id] });
  return events;
}
