/** The running answer of a chat, of which there is at most one: begun, recorded while it is given, stopped, abandoned. */
import { runTurn } from '../agent/turn.ts';
import type { AgentEvent, StopReason } from '../session/events.ts';
import { toModelMessages, type ModelMessage } from '../session/projection.ts';
import type { ChatView } from './chatView.ts';
import type { Recorder } from './recorder.ts';
import type { RuntimeServices } from './runtimeServices.ts';
import { waitAtMost } from './timers.ts';

/** A turn that asks for tools more often than this is taken to go in circles. */
const maxSteps = 25;

export interface TurnRunnerOptions {
  readonly services: Omit<RuntimeServices, 'onChange'>;
  readonly view: ChatView;
  readonly recorder: Recorder;
  /** Whether the chat is taken down: then no turn begins. */
  readonly isFinalized: () => boolean;
  /** Told when a turn is over, before that is shown. */
  readonly onEnding: () => void;
  /** Told when all of a turn that is over is stored, or waits to be. */
  readonly onFinished: () => void;
  /** Told after a turn has begun, and after it has ended. */
  readonly onChange: () => void;
}

interface RunningTurn {
  readonly controller: AbortController;
  done: Promise<StopReason>;
}

export class TurnRunner {
  readonly #options: TurnRunnerOptions;
  #turn: RunningTurn | null = null;
  /** Stays when it is over: a quick turn may be over before anybody can ask how it ended. */
  #latest: RunningTurn | null = null;
  /** What comes before a turn is being stored: no second one may overtake it. */
  #isStarting = false;

  constructor(options: TurnRunnerOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#turn !== null || this.#isStarting;
  }

  /** Runs what must be stored before a turn starts, then starts it; keeps a second start out meanwhile. */
  async begin(store: () => Promise<void>): Promise<void> {
    const { view, isFinalized } = this.#options;
    let history: ModelMessage[];
    this.#isStarting = true;
    try {
      await store();
      history = toModelMessages(await view.sentMessages());
    } finally {
      this.#isStarting = false;
    }
    if (isFinalized()) return; // stored, and shown as not answered when the chat is opened again
    this.#start(history);
  }

  /** Stops the turn and keeps its text. Resolves when all of it is stored, or waits to be. */
  async stop(): Promise<void> {
    if (this.#turn === null) return;
    this.#options.view.apply({ type: 'turnStopping' });
    this.#turn.controller.abort();
    await this.#turn.done;
  }

  /** Resolves when the latest turn is over and all of it is stored, or waits to be, with how it ended; null: there was none. */
  async answered(): Promise<StopReason | null> {
    return this.#latest === null ? null : this.#latest.done;
  }

  /** Nothing more of the turn may be stored: tells it to end, without a word to the viewers. */
  abort(): void {
    this.#turn?.controller.abort();
  }

  /**
   * Stops the turn as the user's Stop does. One that has not stopped after `patienceMs` is abandoned: its text so far is kept
   * as interrupted, and what it still says is ignored.
   */
  async interrupt(patienceMs: number): Promise<void> {
    const turn = this.#turn;
    if (turn === null) return;
    turn.controller.abort();
    if (patienceMs > 0) await waitAtMost(this.#options.services.timers, patienceMs, turn.done);
    if (this.#turn === turn) this.#abandon();
  }

  #start(history: readonly ModelMessage[]): void {
    const { services, view, recorder, onFinished, onChange } = this.#options;
    const controller = new AbortController();
    const turnId = services.newId();
    const turn: RunningTurn = { controller, done: Promise.resolve('stopped') };
    this.#turn = turn;
    this.#latest = turn;
    const startedAt = services.now();
    view.apply({ type: 'turnStarted', turn: { id: turnId, startedAt, phase: 'waiting' } });
    turn.done = runTurn({
      turnId,
      sessionId: view.session.id,
      nextSeq: view.nextSeq(),
      history,
      system: services.system(),
      model: services.model(view.session.modelId),
      tools: services.tools(view.session),
      emit: (event) => {
        if (this.#turn === turn) this.#emit(event);
      },
      signal: controller.signal,
      newId: services.newId,
      now: services.now,
      maxSteps,
    }).then(async (stopReason) => {
      await recorder.flush();
      onFinished();
      return stopReason;
    });
    onChange();
  }

  /** An event of the agent loop: applied, shown, and handed to the recorder. */
  #emit(event: AgentEvent): void {
    const { view, recorder, onEnding, onChange } = this.#options;
    if (event.type === 'turnEnded') {
      // Whoever sees that the turn is over may start the next one at once, and sees what it changed of the session.
      this.#turn = null;
      onEnding();
    }
    view.apply(event);
    switch (event.type) {
      case 'textAppended':
      case 'reasoningAppended':
        recorder.textAdded(event.id, event.text);
        break;
      case 'messageAdded':
        recorder.changed([event.message.id]);
        break;
      case 'toolCallAdded':
      case 'messageFinished':
        recorder.changed([event.id]);
        break;
      case 'turnEnded':
        onChange();
        break;
    }
  }

  #abandon(): void {
    const { services, view } = this.#options;
    const finishedAt = services.now();
    for (const { id, status, usage } of view.state.messages) {
      if (status !== 'streaming') continue;
      this.#emit({ type: 'messageFinished', id, status: 'interrupted', problem: null, usage, finishedAt });
    }
    this.#emit({ type: 'turnEnded', stopReason: 'stopped' });
  }
}
