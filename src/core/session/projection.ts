/**
 * What a model is given of a chat. The stored rows are never changed for a model's sake: what a provider would refuse
 * (a tool call without its result, two user rows in a row, an error text) is repaired here, in the projection only.
 */
import type { Message, ToolCall } from './model.ts';
import { unreadableContents } from './text.ts';

export type ModelMessage =
  | { readonly role: 'user'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly reasoning: string;
      readonly toolCalls: readonly ToolCall[];
    }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly text: string;
      readonly isError: boolean;
    };

/** The result a model is told for a tool call that never got one (the process died, the user stopped). */
export const interruptedToolResult = 'The tool call was interrupted before it returned a result.';

/** What is asked of a model to go on with an answer that was cut off. */
export const continuePrompt =
  'Your last answer was cut off. Continue exactly where it stopped, without repeating anything.';

/**
 * Projects the rows of one session for a model: active rows only, errors' texts left out, every tool call followed by
 * its result (a synthetic one where none is stored), user rows that follow each other joined. What cannot be read says so.
 * The contents of the rows that are sent must be here.
 */
export function toModelMessages(messages: readonly Message[]): ModelMessage[] {
  const active = messages.filter(isSent).map(withReadableText);
  const results = new Map(
    active.flatMap((message) =>
      message.role === 'tool' && message.toolCallId !== null ? [[message.toolCallId, message] as const] : [],
    ),
  );
  const projected: ModelMessage[] = [];
  for (const message of active) {
    switch (message.role) {
      case 'user':
        addUserText(projected, message.text);
        break;
      case 'summary':
        addUserText(projected, `Summary of the conversation so far:\n${message.text}`);
        break;
      case 'assistant':
        addAssistant(projected, message, results);
        break;
      case 'tool':
        break; // placed right behind its call by addAssistant
    }
  }
  return projected;
}

/** Whether a model is given the row at all. */
export function isSent({ active, status }: Message): boolean {
  return active && status !== 'not_sent';
}

function withReadableText(message: Message): Message {
  switch (message.contents) {
    case 'here':
      return message;
    case 'unreadable':
      return { ...message, text: `[${unreadableContents}]` };
    case 'left':
      throw new Error(`the contents of ${message.id} were not read`);
  }
}

function addUserText(projected: ModelMessage[], text: string): void {
  const last = projected.at(-1);
  if (last?.role === 'user')
    projected[projected.length - 1] = { role: 'user', text: `${last.text}\n\n${text}` };
  else projected.push({ role: 'user', text });
}

function addAssistant(
  projected: ModelMessage[],
  message: Message,
  results: ReadonlyMap<string, Message>,
): void {
  const isEmpty = message.text === '' && message.toolCalls.length === 0;
  if (isEmpty) return;
  // A cut-off answer followed by its continuation: providers want the roles to alternate.
  if (projected.at(-1)?.role === 'assistant') projected.push({ role: 'user', text: continuePrompt });
  projected.push({
    role: 'assistant',
    text: message.text,
    reasoning: message.reasoning,
    toolCalls: message.toolCalls,
  });
  for (const call of message.toolCalls) {
    const result = results.get(call.id);
    const isWhole = result !== undefined && (result.status === 'complete' || result.status === 'error');
    projected.push({
      role: 'tool',
      toolCallId: call.id,
      toolName: call.name,
      text: isWhole ? (result.problem?.message ?? result.text) : interruptedToolResult,
      isError: !isWhole || result.status === 'error',
    });
  }
}
