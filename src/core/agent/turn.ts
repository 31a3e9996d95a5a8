/** The turn loop. It knows no storage, no provider and no user interface; its promises are in types.ts. */
import type { StopReason } from '../session/events.ts';
import type { ModelMessage } from '../session/projection.ts';
import type { Problem, ToolCall } from '../session/model.ts';
import { Aborted } from './abort.ts';
import { AnswerRow } from './answerRow.ts';
import { addToolRow } from './toolRow.ts';
import type { TurnInput, TurnProblemReason } from './types.ts';

export async function runTurn(input: TurnInput): Promise<StopReason> {
  const stopReason = await runSteps(input);
  input.emit({ type: 'turnEnded', stopReason });
  return stopReason;
}

async function runSteps(input: TurnInput): Promise<StopReason> {
  const messages = [...input.history];
  const callIds = new Set(messages.flatMap((message) => callIdsOf(message)));
  let seq = input.nextSeq;
  let hasSpoken = false;

  for (let step = 0; ; step += 1) {
    // Stop pressed while the last tool finished: no row for a request that is not made.
    if (step > 0 && input.signal.aborted) return 'stopped';
    const row = new AnswerRow(input, seq, callIds);
    seq += 1;
    if (step >= input.maxSteps) return row.fail(stepLimit(input.maxSteps));
    const outcome = await row.ask(messages);
    if (outcome !== 'complete') return outcome;

    hasSpoken ||= row.text !== '';
    if (row.toolCalls.length === 0 && !hasSpoken) return row.fail(emptyAnswer(input.model.name));
    row.complete();
    if (row.toolCalls.length === 0) return 'complete';

    messages.push(row.toModelMessage());
    for (const call of row.toolCalls) {
      const result = await runTool(input, call, seq);
      if (result === null) return 'stopped';
      seq += 1;
      messages.push(result);
    }
  }
}

async function runTool(input: TurnInput, call: ToolCall, seq: number): Promise<ModelMessage | null> {
  // A call that Stop came before gets no row: the projection gives it a synthetic result.
  if (input.signal.aborted) return null;
  try {
    return await addToolRow(input, call, seq);
  } catch (error) {
    if (error instanceof Aborted) return null;
    throw error;
  }
}

function callIdsOf(message: ModelMessage): readonly string[] {
  return message.role === 'assistant' ? message.toolCalls.map((call) => call.id) : [];
}

function problem(reason: TurnProblemReason, message: string): Problem {
  return { reason, message };
}

function stepLimit(maxSteps: number): Problem {
  return problem(
    'step_limit',
    `The model called tools ${maxSteps} times in a row without finishing, so the turn was ended. ` +
      'Press Continue to let it go on, or ask for less at once.',
  );
}

function emptyAnswer(name: string): Problem {
  return problem(
    'empty_answer',
    `${name} ended its answer without any text. Press Retry, or choose another model.`,
  );
}
