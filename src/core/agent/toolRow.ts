/** One tool row: a tool call of the model and its result. */
import { makeMessage, type MessageStatus, type ToolCall } from '../session/model.ts';
import type { ModelMessage } from '../session/projection.ts';
import { runToolCall } from './toolRun.ts';
import type { TurnInput } from './types.ts';

/** Runs the call and announces its row; raises `Aborted`, with the row finished as interrupted, once Stop was pressed. */
export async function addToolRow(input: TurnInput, call: ToolCall, seq: number): Promise<ModelMessage> {
  const id = input.newId();
  const finish = (status: MessageStatus): void =>
    input.emit({
      type: 'messageFinished',
      id,
      status,
      problem: null,
      usage: null,
      finishedAt: input.now(),
    });
  input.emit({
    type: 'messageAdded',
    message: makeMessage({
      id,
      sessionId: input.sessionId,
      seq,
      role: 'tool',
      status: 'streaming',
      toolCallId: call.id,
      toolName: call.name,
      createdAt: input.now(),
    }),
  });
  try {
    const result = await runToolCall(call, input.tools, input.signal);
    if (result.text !== '') input.emit({ type: 'textAppended', id, text: result.text });
    finish(result.isError ? 'error' : 'complete');
    return {
      role: 'tool',
      toolCallId: call.id,
      toolName: call.name,
      text: result.text,
      isError: result.isError,
    };
  } catch (error) {
    finish('interrupted');
    throw error;
  }
}
