/** One assistant row: one request to the model and what came back of it. */
import type { StopReason } from '../session/events.ts';
import { makeMessage, type Problem, type ToolCall, type Usage } from '../session/model.ts';
import type { ModelMessage } from '../session/projection.ts';
import { ModelError, type ModelEvent } from '../models/chatModel.ts';
import { untilAborted } from './abort.ts';
import type { TurnInput } from './types.ts';
import { WholeCharacters } from './wholeCharacters.ts';

export class AnswerRow {
  text = '';
  readonly toolCalls: ToolCall[] = [];
  private reasoning = '';
  private usage: Usage | null = null;
  private readonly id: string;
  private readonly input: TurnInput;
  /** Ids of all calls in the chat so far; shared by the rows of a turn. */
  private readonly callIds: Set<string>;
  private readonly textCharacters = new WholeCharacters();
  private readonly reasoningCharacters = new WholeCharacters();

  constructor(input: TurnInput, seq: number, callIds: Set<string>) {
    this.input = input;
    this.callIds = callIds;
    this.id = input.newId();
    input.emit({
      type: 'messageAdded',
      message: makeMessage({
        id: this.id,
        sessionId: input.sessionId,
        seq,
        role: 'assistant',
        status: 'streaming',
        createdAt: input.now(),
        modelId: input.model.id,
      }),
    });
  }

  /**
   * Streams the model's answer to `messages` into the row. `complete`: the answer is whole and the row still open, for
   * the caller to judge; otherwise the row is finished and the turn ends with this reason.
   */
  async ask(messages: readonly ModelMessage[]): Promise<StopReason> {
    const { signal, model } = this.input;
    try {
      if (await this.receive(messages)) {
        this.flush();
        return 'complete';
      }
    } catch (error) {
      return signal.aborted ? this.stop() : this.failWith(error);
    }
    if (signal.aborted) return this.stop();
    return this.failWith(
      new ModelError(
        'truncated',
        `${model.name} stopped before its answer was finished. Press Continue or Retry.`,
      ),
    );
  }

  complete(): void {
    this.finish('complete', null);
  }

  fail(problem: Problem): StopReason {
    this.finish('error', problem);
    return 'error';
  }

  toModelMessage(): ModelMessage {
    return { role: 'assistant', text: this.text, reasoning: this.reasoning, toolCalls: this.toolCalls };
  }

  /** True when the model said that its answer is whole. */
  private async receive(messages: readonly ModelMessage[]): Promise<boolean> {
    const { model, system, tools, signal } = this.input;
    if (signal.aborted) return false;
    const descriptions = tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    }));
    const iterator = model
      .stream({ system, messages: [...messages], tools: descriptions }, signal)
      [Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await untilAborted(iterator.next(), signal);
        if (next.done === true) return false;
        if (this.take(next.value)) return true;
      }
    } finally {
      // Not awaited: a model that ignores the signal would hold the turn. A failure while closing changes nothing.
      void Promise.resolve(iterator.return?.()).catch((error: unknown) => error);
    }
  }

  /** True when the answer is over. */
  private take(event: ModelEvent): boolean {
    switch (event.type) {
      case 'text':
        this.appendText(this.textCharacters.push(event.text));
        return false;
      case 'reasoning':
        this.appendReasoning(this.reasoningCharacters.push(event.text));
        return false;
      case 'toolCall':
        this.addCall(event.call);
        return false;
      case 'finish':
        this.usage = event.usage;
        return true;
    }
  }

  private appendText(text: string): void {
    if (text === '') return;
    this.text += text;
    this.input.emit({ type: 'textAppended', id: this.id, text });
  }

  private appendReasoning(text: string): void {
    if (text === '') return;
    this.reasoning += text;
    this.input.emit({ type: 'reasoningAppended', id: this.id, text });
  }

  /** Some servers count their calls from the same id in every answer; results are found by id, so ids must differ. */
  private addCall(announced: ToolCall): void {
    const isUsable = announced.id !== '' && !this.callIds.has(announced.id);
    const call = isUsable ? announced : { ...announced, id: this.input.newId() };
    this.callIds.add(call.id);
    this.toolCalls.push(call);
    this.input.emit({ type: 'toolCallAdded', id: this.id, call });
  }

  private flush(): void {
    this.appendReasoning(this.reasoningCharacters.end());
    this.appendText(this.textCharacters.end());
  }

  private stop(): StopReason {
    this.finish('interrupted', null);
    return 'stopped';
  }

  private failWith(error: unknown): StopReason {
    const problem = toProblem(error, this.input.model.name);
    const isCutOff = problem.reason === 'truncated' || problem.reason === 'stalled';
    const hasContent = this.text !== '' || this.toolCalls.length > 0;
    this.finish(isCutOff && hasContent ? 'interrupted' : 'error', problem);
    return 'error';
  }

  private finish(status: 'complete' | 'interrupted' | 'error', problem: Problem | null): void {
    this.flush();
    this.input.emit({
      type: 'messageFinished',
      id: this.id,
      status,
      problem,
      usage: this.usage,
      finishedAt: this.input.now(),
    });
  }
}

function toProblem(error: unknown, modelName: string): Problem {
  if (error instanceof ModelError) return { reason: error.reason, message: error.message };
  const cause = error instanceof Error ? error.message : String(error);
  return {
    reason: 'internal',
    message: `${modelName} failed in a way Holdfast does not know (${cause}). Press Retry; if it happens again, report it.`,
  };
}
