/** What others may learn of a chat's life. A listener that fails is logged and hinders nothing. */
import type { EndReason, Source } from '../session/model.ts';

export interface SessionEndPayload {
  readonly sessionId: string;
  readonly completed: false;
  readonly interrupted: true;
  readonly model: string | null;
  readonly source: Source;
}

export interface SessionFinalizePayload {
  readonly sessionId: string;
  readonly source: Source;
}

export interface ReclaimedPayload {
  readonly runtimeId: string;
  readonly sessionId: string;
  readonly reason: EndReason;
}

export interface HookPayloads {
  readonly onSessionEnd: SessionEndPayload;
  readonly onSessionFinalize: SessionFinalizePayload;
  readonly onReclaimed: ReclaimedPayload;
}

export class LifecycleHooks {
  readonly #log: (line: string) => void;
  readonly #listeners = {
    onSessionEnd: new Set<(payload: SessionEndPayload) => unknown>(),
    onSessionFinalize: new Set<(payload: SessionFinalizePayload) => unknown>(),
    onReclaimed: new Set<(payload: ReclaimedPayload) => unknown>(),
  };

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  onSessionEnd(listener: (payload: SessionEndPayload) => unknown): () => void {
    return subscribe(this.#listeners.onSessionEnd, listener);
  }

  onSessionFinalize(listener: (payload: SessionFinalizePayload) => unknown): () => void {
    return subscribe(this.#listeners.onSessionFinalize, listener);
  }

  onReclaimed(listener: (payload: ReclaimedPayload) => unknown): () => void {
    return subscribe(this.#listeners.onReclaimed, listener);
  }

  fireSessionEnd(payload: SessionEndPayload): Promise<void> {
    return this.#fire('onSessionEnd', this.#listeners.onSessionEnd, payload);
  }

  fireSessionFinalize(payload: SessionFinalizePayload): Promise<void> {
    return this.#fire('onSessionFinalize', this.#listeners.onSessionFinalize, payload);
  }

  fireReclaimed(payload: ReclaimedPayload): Promise<void> {
    return this.#fire('onReclaimed', this.#listeners.onReclaimed, payload);
  }

  async #fire<Payload>(
    name: keyof HookPayloads,
    listeners: ReadonlySet<(payload: Payload) => unknown>,
    payload: Payload,
  ): Promise<void> {
    for (const listener of listeners) {
      try {
        await listener(payload);
      } catch (error) {
        this.#log(`a listener of ${name} failed: ${String(error)}`);
      }
    }
  }
}

function subscribe<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
