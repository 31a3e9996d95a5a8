import { useComputed, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { Fork } from '../../core/session/events.ts';
import type { Page } from '../state/page.ts';
import { words } from '../words.ts';
import { IconButton } from './iconButton.tsx';

interface ForkSwitcherProps {
  readonly page: Page;
  /** The message after which chats part; null: the beginning of the chat. */
  readonly after: string | null;
}

/** Where chats part that begin alike: which way this one goes, and the ways to the others. */
export function ForkSwitcher({ page, after }: ForkSwitcherProps) {
  const fork = useComputed(() => page.chat.forks.value.get(after)).value;
  return fork === undefined ? null : <Ways page={page} fork={fork} />;
}

function Ways({ page, fork }: { readonly page: Page; readonly fork: Fork }) {
  const group = useRef<HTMLDivElement>(null);
  const { chats, current } = fork;
  // Whoever comes here from the other branch finds the focus where it was; the transcript brings the place into view.
  useSignalEffect(() => {
    const arrival = page.arrival.value;
    if (arrival === null || arrival.to !== chats[current]) return;
    if (arrival.chats.join() !== chats.join()) return;
    page.arrival.value = null;
    const buttons = [...(group.current?.querySelectorAll('button') ?? [])];
    const pressed = buttons[arrival.isForward ? 1 : 0];
    const usable = pressed?.disabled === false ? pressed : buttons.find(({ disabled }) => !disabled);
    usable?.focus({ preventScroll: true });
  });
  const go = (isForward: boolean) => {
    const to = chats[current + (isForward ? 1 : -1)];
    if (to !== undefined) page.switchTo({ chats, to, isForward });
  };
  const isDisabled = !page.isConnected.value;
  return (
    <div ref={group} class="fork" role="group" aria-label={words.branches}>
      <IconButton
        label={words.previousBranch}
        icon="chevron-left"
        isDisabled={isDisabled || current === 0}
        run={() => go(false)}
      />
      <span>
        <span aria-hidden="true">{`${current + 1}/${chats.length}`}</span>
        <span class="visually-hidden">{words.branchOf(current + 1, chats.length)}</span>
      </span>
      <IconButton
        label={words.nextBranch}
        icon="chevron-right"
        isDisabled={isDisabled || current === chats.length - 1}
        run={() => go(true)}
      />
    </div>
  );
}
