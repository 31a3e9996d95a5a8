/**
 * Keeps the page on the host's state over a channel that may lose messages: asks for a snapshot until one comes, asks
 * again when an event is missing, and notices by unanswered pings that the extension host is gone.
 */
import { signal } from '@preact/signals';
import type { HostMessage } from '../../core/protocol/hostMessages.ts';
import type { ChatEvent } from '../../core/session/events.ts';
import type { Draft } from '../../core/session/model.ts';
import type { Host } from '../host.ts';

export type Snapshot = Extract<HostMessage, { type: 'snapshot' }>;

/** `unanswered`: asked in vain for a while; `stopped`: it answered before and does not any more. */
export type ConnectionPhase = 'connecting' | 'connected' | 'unanswered' | 'stopped';

export interface ConnectionHandlers {
  readonly onSnapshot: (snapshot: Snapshot, isNewRuntime: boolean) => void;
  readonly onEvent: (event: ChatEvent) => void;
  /** What the host should know of the composer when it makes the snapshot. */
  readonly draft: () => Draft | null;
}

const firstRetryMs = 250;
const longestRetryMs = 4000;
const patienceMs = 8000;
const pingEveryMs = 2000;
const stoppedAfterMs = 5000;

export class Connection {
  readonly phase = signal<ConnectionPhase>('connecting');
  readonly #host: Host;
  readonly #handlers: ConnectionHandlers;
  #runtimeId: string | null = null;
  #seq = 0;
  #askTimer: number | null = null;
  #askingSince: number | null = null;
  /** A host that never said anything cannot be told from one that is gone. */
  #wasAnswered = false;
  #nonce = 0;
  /** When the oldest ping without an answer was sent. */
  #unansweredSince: number | null = null;
  #lastTick = 0;

  constructor(host: Host, handlers: ConnectionHandlers) {
    this.#host = host;
    this.#handlers = handlers;
  }

  start(): void {
    this.#ask();
    this.#lastTick = performance.now();
    window.setInterval(() => this.#tick(), pingEveryMs);
    document.addEventListener('visibilitychange', () => {
      this.#unansweredSince = null; // timers of a hidden page are no measure of the host
      if (document.visibilityState === 'visible') this.#ping();
    });
  }

  /** Looks at every message of the host; snapshots and events go on to the handlers, in order and without gaps. */
  receive(message: HostMessage): void {
    this.#unansweredSince = null;
    if (message.type === 'snapshot') this.#takeSnapshot(message);
    else if (message.type === 'unavailable' || message.type === 'chooseChat') this.#answered();
    else if (this.phase.value === 'stopped') this.#ask();
    else if (message.type === 'event') this.#takeEvent(message.runtimeId, message.seq, message.event);
  }

  #takeSnapshot(snapshot: Snapshot): void {
    const isNewRuntime = snapshot.runtimeId !== this.#runtimeId;
    if (!isNewRuntime && snapshot.seq < this.#seq) return; // overtaken on its way
    // Asked for twice before the first one came: rendering the same again would take as long again.
    const isKnown = this.#askingSince === null && this.phase.value === 'connected';
    if (!isNewRuntime && snapshot.seq === this.#seq && isKnown) return;
    this.#runtimeId = snapshot.runtimeId;
    this.#seq = snapshot.seq;
    this.#answered();
    this.#handlers.onSnapshot(snapshot, isNewRuntime);
  }

  #takeEvent(runtimeId: string, seq: number, event: ChatEvent): void {
    if (this.#runtimeId === null) return; // the snapshot asked for holds it
    if (runtimeId === this.#runtimeId) {
      const isNext = event.type === 'olderLoaded' ? seq <= this.#seq : seq === this.#seq + 1;
      if (isNext) {
        this.#seq = Math.max(seq, this.#seq);
        this.#handlers.onEvent(event);
        return;
      }
      if (seq <= this.#seq) return; // a snapshot held it already
    }
    if (this.#askingSince === null) this.#ask();
  }

  #ask(): void {
    this.#askingSince = performance.now();
    this.#askAgain(firstRetryMs);
  }

  #askAgain(nextDelay: number): void {
    if (this.#askTimer !== null) window.clearTimeout(this.#askTimer);
    this.#host.post({ type: 'ready', draft: this.#handlers.draft() });
    this.#askTimer = window.setTimeout(() => {
      const since = this.#askingSince;
      if (since === null) return;
      if (performance.now() - since >= patienceMs && this.phase.value !== 'stopped') {
        this.phase.value = 'unanswered';
      }
      this.#askAgain(Math.min(nextDelay * 2, longestRetryMs));
    }, nextDelay);
  }

  #answered(): void {
    if (this.#askTimer !== null) window.clearTimeout(this.#askTimer);
    this.#askTimer = null;
    this.#askingSince = null;
    this.#wasAnswered = true;
    this.phase.value = 'connected';
  }

  #tick(): void {
    const now = performance.now();
    // The page itself stood still (the computer slept): silence proves nothing.
    if (now - this.#lastTick > 2 * pingEveryMs) this.#unansweredSince = null;
    this.#lastTick = now;
    if (document.visibilityState !== 'visible' || !this.#wasAnswered) return;
    if (this.#unansweredSince !== null && now - this.#unansweredSince >= stoppedAfterMs) {
      this.phase.value = 'stopped';
    }
    this.#ping();
  }

  #ping(): void {
    if (!this.#wasAnswered) return;
    this.#unansweredSince ??= performance.now();
    this.#nonce += 1;
    this.#host.post({ type: 'ping', nonce: this.#nonce });
  }
}
