import { useComputed } from '@preact/signals';
import type { Message, MessageStatus, ToolCall } from '../../core/session/model.ts';
import type { Page } from '../state/page.ts';
import { readableText } from '../../core/session/text.ts';
import { words } from '../words.ts';
import { formatDuration, summariseArguments, tidyJson } from './format.ts';
import { Icon } from './icon.tsx';

/** Longer results are shown cut: the store has the whole. */
const longestResult = 20_000;

type ToolState = keyof typeof words.toolStates;

const stateIcons: Readonly<Record<ToolState, string>> = {
  waiting: 'circle-outline',
  running: 'loading',
  complete: 'check',
  error: 'error',
  interrupted: 'circle-slash',
};

/** A call of the assistant and, once there, its result. */
export function ToolCall({ page, call }: { readonly page: Page; readonly call: ToolCall }) {
  // Computed, so that a new row renders its own card and not every card of the chat.
  const rowId = useComputed(() => page.chat.results.value.get(call.id)).value;
  const row = rowId === undefined ? undefined : page.chat.view(rowId)?.message.value;
  const state = row === undefined ? stateWithoutRow(page) : toolState(row.status);
  return <ToolCard name={call.name} input={call.arguments} row={row} state={state} />;
}

/** A result whose call is on an older page. */
export function ToolResult({ page, id }: { readonly page: Page; readonly id: string }) {
  const row = page.chat.view(id)?.message.value;
  if (row === undefined) return null;
  return <ToolCard name={row.toolName ?? ''} input="" row={row} state={toolState(row.status)} />;
}

interface ToolCardProps {
  readonly name: string;
  readonly input: string;
  readonly row: Message | undefined;
  readonly state: ToolState;
}

function ToolCard({ name, input, row, state }: ToolCardProps) {
  const duration =
    row === undefined || row.finishedAt === null ? '' : formatDuration(row.finishedAt - row.createdAt);
  const result = row === undefined ? '' : (row.problem?.message ?? readableText(row));
  return (
    <div
      class={`tool-card ${state}`}
      role="group"
      aria-label={words.tool(name)}
      data-message-id={row?.id}
      data-status={row?.status}
      data-state={state}
    >
      <details>
        <summary>
          <Icon name={stateIcons[state]} spins={state === 'running'} />
          <span class="tool-name">{name}</span>
          <span class="tool-arguments">{summariseArguments(input)}</span>
          <span class="tool-state">{words.toolStates[state]}</span>
          {duration !== '' && <span class="tool-duration">{duration}</span>}
        </summary>
        {input !== '' && <Part label={words.toolArguments} text={tidyJson(input)} />}
        {state !== 'waiting' && state !== 'running' && (
          <Part label={words.toolResult} text={result === '' ? words.toolNoResult : result} />
        )}
      </details>
    </div>
  );
}

function Part({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <div class="tool-part">
      <div class="tool-label">{label}</div>
      <pre tabIndex={0} role="group" aria-label={label}>
        {text.slice(0, longestResult)}
      </pre>
      {text.length > longestResult && <div class="tool-label">{words.toolCut(longestResult)}</div>}
    </div>
  );
}

function stateWithoutRow(page: Page): ToolState {
  return page.chat.running.value === null ? 'interrupted' : 'waiting';
}

function toolState(status: MessageStatus): ToolState {
  switch (status) {
    case 'streaming':
      return 'running';
    case 'not_sent':
      return 'waiting';
    case 'complete':
    case 'error':
    case 'interrupted':
      return status;
  }
}
