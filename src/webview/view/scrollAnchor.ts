/** Names a place of the transcript by the message that is on top of the view. */
import type { ScrollAnchor } from '../../core/protocol/pageMessages.ts';

/** The first message that reaches into the view; null when there is none. */
export function findAnchor(scroller: HTMLElement): ScrollAnchor | null {
  const top = scroller.getBoundingClientRect().top;
  const turn = firstBelow([...scroller.querySelectorAll('.turn')], top);
  if (turn === undefined) return null;
  const row = firstBelow([...turn.querySelectorAll('[data-message-id]')], top);
  if (!(row instanceof HTMLElement)) return null;
  const messageId = row.dataset['messageId'];
  if (messageId === undefined) return null;
  return { messageId, offset: Math.round(top - row.getBoundingClientRect().top) };
}

/** How far the view's top is below the top of this message, in pixels; null when it is not shown. */
export function offsetOf(scroller: HTMLElement, messageId: string): number | null {
  const row = scroller.querySelector(`[data-message-id="${CSS.escape(messageId)}"]`);
  if (row === null) return null;
  return scroller.getBoundingClientRect().top - row.getBoundingClientRect().top;
}

/** The place that shows what stands below this message: its end in the middle of the view, if it is too long to be seen whole. */
export function anchorBelow(scroller: HTMLElement, messageId: string): ScrollAnchor {
  const row = scroller.querySelector(`[data-message-id="${CSS.escape(messageId)}"]`);
  const height = row?.getBoundingClientRect().height ?? 0;
  return { messageId, offset: Math.max(0, height - scroller.clientHeight / 2) };
}

/** Elements are in order of their position, so halving finds the first whose end is below `top`. */
function firstBelow(elements: readonly Element[], top: number): Element | undefined {
  let low = 0;
  let high = elements.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const bottom = elements[middle]?.getBoundingClientRect().bottom ?? Infinity;
    if (bottom > top) high = middle;
    else low = middle + 1;
  }
  return elements[low];
}
