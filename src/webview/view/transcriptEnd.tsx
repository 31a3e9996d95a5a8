/** What stands behind the last message: prompts on their way, the waiting indicator, or the ways to go on. */
import type { Message } from '../../core/session/model.ts';
import type { Page } from '../state/page.ts';
import { words } from '../words.ts';
import { Icon } from './icon.tsx';
import { PendingArticle } from './messageArticle.tsx';

export function TranscriptEnd({ page }: { readonly page: Page }) {
  const pending = page.draft.pending.value.filter(({ messageId }) => page.chat.view(messageId) === undefined);
  return (
    <>
      {pending.map((prompt) => (
        <PendingArticle key={prompt.messageId} id={prompt.messageId} text={prompt.text} />
      ))}
      <Progress page={page} />
      <WaysOn page={page} />
    </>
  );
}

function Progress({ page }: { readonly page: Page }) {
  const running = page.chat.running.value;
  if (running === null) return null;
  const label =
    running.phase === 'waiting'
      ? words.waiting
      : running.phase === 'stopping'
        ? words.stopping
        : words.working;
  return (
    <div class="progress" data-phase={running.phase}>
      <Icon name="loading" spins />
      {label}
    </div>
  );
}

function WaysOn({ page }: { readonly page: Page }) {
  // Read only while nothing runs, so that streaming text does not render this.
  if (page.chat.running.value !== null || page.draft.pending.value.length > 0 || !page.isOpen.value) {
    return null;
  }
  const last = page.chat.lastActive.value;
  if (last === null || !isUnfinished(last)) return null;
  const isDisabled = page.isElsewhere.value;
  return (
    <div class="ways-on">
      {last.role === 'user' && <span class="remark">{words.noAnswer}</span>}
      {last.role !== 'user' && last.status !== 'error' && (
        <button type="button" class="button" disabled={isDisabled} onClick={() => page.continue()}>
          <Icon name="debug-continue" />
          {words.continue}
        </button>
      )}
      <button type="button" class="button secondary" disabled={isDisabled} onClick={() => page.retry()}>
        <Icon name="refresh" />
        {words.retry}
      </button>
    </div>
  );
}

/** The chat stands in the middle of a turn: its last row failed, was cut off, or waits for one that never came. */
function isUnfinished(last: Message): boolean {
  switch (last.role) {
    case 'user':
    case 'tool':
      return true;
    case 'assistant':
      return last.status !== 'complete' || last.toolCalls.length > 0;
    case 'summary':
      return false;
  }
}
