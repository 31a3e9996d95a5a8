/**
 * Where the transcript stands. It follows the end only while it is at the end; the smallest step up by the user holds the
 * place, until they come back to the end or ask for it.
 */
import { signal } from '@preact/signals';
import type { ScrollAnchor } from '../../core/protocol/pageMessages.ts';
import type { Position } from '../state/draftBox.ts';
import { anchorBelow, findAnchor, offsetOf } from './scrollAnchor.ts';

export interface ScrollHandlers {
  /** The view came to rest somewhere else. */
  readonly onMove: (position: Position) => void;
  readonly onNearTop: () => void;
}

const atEndPixels = 2;
const nearTopPixels = 800;
const restMs = 150;
/** How long after a wheel tick or key a scroll counts as the user's. */
const intentMs = 1000;
/** Sizes off screen are estimates until shown: a restored place is set again for so many frames. */
const settleFrames = 4;

export class ScrollKeeper {
  readonly isFollowing = signal(true);
  readonly #scroller: HTMLElement;
  readonly #handlers: ScrollHandlers;
  #lastTop = 0;
  #intentUntil = 0;
  #restTimer = 0;
  #held: ScrollAnchor | null = null;
  /** A place to go to whose message is not loaded yet. */
  #wanted: ScrollAnchor | null = null;

  constructor(scroller: HTMLElement, handlers: ScrollHandlers) {
    this.#scroller = scroller;
    this.#handlers = handlers;
  }

  /** Listens until the returned function is called. */
  listen(content: HTMLElement): () => void {
    const scroller = this.#scroller;
    const observer = new ResizeObserver(() => this.#stick());
    observer.observe(content);
    observer.observe(scroller);
    const stopListening = new AbortController();
    const options = { passive: true, signal: stopListening.signal };
    scroller.addEventListener('scroll', () => this.#scrolled(), options);
    scroller.addEventListener('wheel', (event) => this.#wheeled(event), options);
    for (const type of ['keydown', 'pointerdown', 'touchmove'] as const) {
      scroller.addEventListener(type, () => this.#noteIntent(), options);
    }
    // Who opens a card at the end wants to read it, not to see it pushed away. `toggle` does not bubble.
    scroller.addEventListener('click', (event) => this.#clicked(event), { ...options, capture: true });
    scroller.addEventListener('toggle', () => this.#toggled(), { ...options, capture: true });
    document.addEventListener('visibilitychange', () => this.#report(), options);
    return () => {
      observer.disconnect();
      stopListening.abort();
      window.clearTimeout(this.#restTimer);
    };
  }

  /** Before rows are added or taken away: remembers what is on top. */
  beforeChange(): void {
    this.#held = this.isFollowing.peek() ? null : findAnchor(this.#scroller);
  }

  /** After it: what was on top is there again, or the end is, or a wanted place has been loaded. */
  afterChange(canLoadOlder: boolean): void {
    if (this.#wanted !== null && !this.#goTo(this.#wanted, settleFrames) && canLoadOlder) {
      this.#handlers.onNearTop();
      return;
    }
    this.#wanted = null;
    if (this.isFollowing.peek()) this.#stick();
    else if (this.#held !== null) this.#goTo(this.#held, 0);
    this.#held = null;
    this.#checkTop();
  }

  /** Goes to where the view was left. */
  restore({ scroll, anchor }: Position): void {
    this.isFollowing.value = scroll === null;
    this.#wanted = scroll === null ? null : anchor;
    if (scroll === null || anchor !== null) return;
    this.#scroller.scrollTop = scroll;
    this.#lastTop = this.#scroller.scrollTop;
  }

  /** Goes to the end of a message, loaded or not; null: to the beginning of the chat. */
  goBelow(messageId: string | null): void {
    this.restore({ scroll: 0, anchor: messageId === null ? null : anchorBelow(this.#scroller, messageId) });
  }

  jumpToEnd(): void {
    this.#wanted = null;
    this.isFollowing.value = true;
    this.#stick();
    this.#report();
  }

  #stick(): void {
    if (!this.isFollowing.peek()) return;
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#lastTop = this.#scroller.scrollTop;
  }

  #scrolled(): void {
    const top = this.#scroller.scrollTop;
    const isAtEnd = this.#distance() < atEndPixels;
    if (top < this.#lastTop && !isAtEnd) this.isFollowing.value = false;
    else if (top > this.#lastTop && isAtEnd && performance.now() < this.#intentUntil) {
      this.isFollowing.value = true;
    }
    this.#lastTop = top;
    this.#checkTop();
    window.clearTimeout(this.#restTimer);
    this.#restTimer = window.setTimeout(() => this.#report(), restMs);
  }

  #wheeled(event: WheelEvent): void {
    this.#noteIntent();
    // At once, not with the scroll that follows: the next token may come first.
    if (event.deltaY < 0 && this.#scroller.scrollTop > 0) this.isFollowing.value = false;
  }

  #noteIntent(): void {
    this.#wanted = null;
    this.#intentUntil = performance.now() + intentMs;
  }

  /** The card changes its size before it tells, so the place is held from the click on. */
  #clicked({ target }: MouseEvent): void {
    if (target instanceof Element && target.closest('summary') !== null) this.isFollowing.value = false;
  }

  #toggled(): void {
    this.isFollowing.value = this.#distance() < atEndPixels;
  }

  #distance(): number {
    const { scrollHeight, clientHeight, scrollTop } = this.#scroller;
    return scrollHeight - clientHeight - scrollTop;
  }

  #checkTop(): void {
    if (this.#scroller.scrollTop < nearTopPixels) this.#handlers.onNearTop();
  }

  #report(): void {
    const isFollowing = this.isFollowing.peek();
    this.#handlers.onMove({
      scroll: isFollowing ? null : Math.round(this.#scroller.scrollTop),
      anchor: isFollowing ? null : findAnchor(this.#scroller),
    });
  }

  /** False when the message is not there. */
  #goTo(anchor: ScrollAnchor, framesLeft: number): boolean {
    const offset = offsetOf(this.#scroller, anchor.messageId);
    if (offset === null) return false;
    this.#scroller.scrollTop += anchor.offset - offset;
    this.#lastTop = this.#scroller.scrollTop;
    const started = this.#intentUntil;
    if (framesLeft > 0) {
      requestAnimationFrame(() => {
        if (this.#intentUntil === started) this.#goTo(anchor, framesLeft - 1);
      });
    }
    return true;
  }
}
