/**
 * How high a turn will be before it is laid out, from the length of what it says: with a guess near the truth only what is
 * about to be seen is laid out, and the scroll bar tells how long the chat is.
 */
import { countLineBreaks } from '../../core/session/text.ts';
import type { ChatView } from '../state/chatView.ts';
import type { TurnLayout } from '../state/turns.ts';

/** In em, as everything here. */
const lineHeight = 1.5;
/** Of a line of the widest transcript. */
const charactersPerLine = 120;
/** Author, margins and footer of a message, and what is folded. */
const aroundText = 4;

/** In em of the transcript. What a retry replaced is folded. */
export function estimateHeight(chat: ChatView, { sections }: TurnLayout): number {
  let height = 0;
  for (const { kind, rows } of sections) {
    for (const { id, role } of kind === 'rows' ? rows : []) {
      const isOpen = role === 'user' || role === 'assistant';
      const text = isOpen ? (chat.view(id)?.message.peek().text ?? '') : '';
      height += aroundText + (countLineBreaks(text) + text.length / charactersPerLine) * lineHeight;
    }
  }
  return Math.round(height);
}
