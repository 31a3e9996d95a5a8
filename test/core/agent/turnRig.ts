import { makeChatState, reduce, type ChatState } from '../../../src/core/session/reducer.ts';
import { makeSession } from '../../../src/core/session/model.ts';
import type { AgentEvent, StopReason } from '../../../src/core/session/events.ts';
import type { ChatModel, ModelEvent, ModelRequest } from '../../../src/core/models/chatModel.ts';
import type { Tool } from '../../../src/core/tools/tool.ts';
import type { TurnInput } from '../../../src/core/agent/types.ts';
import { runTurn } from '../../../src/core/agent/turn.ts';

export type Answer = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>;

/** A model that answers the turn's requests one after the other. */
export class ScriptedModel implements ChatModel {
  readonly id = 'test/scripted';
  readonly name = 'Scripted';
  readonly requests: ModelRequest[] = [];
  private readonly answers: Answer[];

  constructor(...answers: Answer[]) {
    this.answers = answers;
  }

  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    const answer = this.answers[Math.min(this.requests.length, this.answers.length - 1)];
    this.requests.push(request);
    if (answer === undefined) throw new Error('The scripted model has no answer');
    return answer(request, signal);
  }
}

export function events(...given: ModelEvent[]): Answer {
  return async function* () {
    yield* given;
  };
}

export function text(...pieces: string[]): Answer {
  return events(...pieces.map((piece) => ({ type: 'text', text: piece }) as const), finish);
}

export const finish: ModelEvent = { type: 'finish', usage: null };

export function call(name: string, argumentsText: string, id = 'call-1'): ModelEvent {
  return { type: 'toolCall', call: { id, name, arguments: argumentsText } };
}

export function never(): Promise<never> {
  return new Promise(() => undefined);
}

export interface TurnRun {
  readonly events: readonly AgentEvent[];
  readonly state: ChatState;
  readonly stopReason: StopReason;
}

/** Runs a turn and reduces its events as host and page do; `onEvent` sees each before the next. */
export async function runWith(
  model: ChatModel,
  overrides: Partial<TurnInput> & { tools?: readonly Tool[]; onEvent?: (event: AgentEvent) => void } = {},
): Promise<TurnRun> {
  const { onEvent, ...input } = overrides;
  const seen: AgentEvent[] = [];
  let state = makeChatState(makeSession({ id: 'chat', source: 'cli', createdAt: 0 }));
  let ids = 0;
  let clock = 0;
  const stopReason = await runTurn({
    turnId: 'turn',
    sessionId: 'chat',
    nextSeq: 2,
    history: [{ role: 'user', text: 'Hello' }],
    system: 'You are a test.',
    model,
    tools: [],
    emit: (event) => {
      seen.push(event);
      state = reduce(state, event);
      onEvent?.(event);
    },
    signal: new AbortController().signal,
    newId: () => `id-${(ids += 1)}`,
    now: () => (clock += 1),
    maxSteps: 8,
    ...input,
  });
  return { events: seen, state, stopReason };
}

/** The rows in the few columns a turn decides about. */
export function rows(state: ChatState): unknown[] {
  return state.messages.map(({ seq, role, status, text: rowText, toolCalls, toolCallId, problem }) => ({
    seq,
    role,
    status,
    text: rowText,
    ...(toolCalls.length === 0 ? {} : { calls: toolCalls.map(({ id, name }) => `${id} ${name}`) }),
    ...(toolCallId === null ? {} : { toolCallId }),
    ...(problem === null ? {} : { problem: problem.reason }),
  }));
}
