import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Page } from '../state/page.ts';
import { words } from '../words.ts';
import { Icon } from './icon.tsx';

interface Item {
  readonly label: string;
  readonly icon: string;
  readonly isDisabled: boolean;
  readonly run: () => void;
}

/** What is done to a chat now and then. */
export function ChatMenu({ page }: { readonly page: Page }) {
  const isOpen = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = (takesFocus: boolean) => {
    isOpen.value = false;
    if (takesFocus) button.current?.focus();
  };
  const items: readonly Item[] = [
    {
      label: words.compact,
      icon: 'fold',
      isDisabled: !page.isWritable.value,
      run: () => page.compact(),
    },
    {
      label: words.archiveAndStartNew,
      icon: 'archive',
      isDisabled: false,
      run: () => page.archiveAndStartNew(),
    },
  ];
  return (
    <div class="chat-menu">
      <button
        ref={button}
        type="button"
        class="icon-button"
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        aria-label={words.moreActions}
        title={words.moreActions}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <Icon name="ellipsis" />
      </button>
      {isOpen.value && <Menu items={items} close={close} />}
    </div>
  );
}

interface MenuProps {
  readonly items: readonly Item[];
  readonly close: (takesFocus: boolean) => void;
}

function Menu({ items, close }: MenuProps) {
  const menu = useRef<HTMLDivElement>(null);
  const buttons = () => [...(menu.current?.querySelectorAll('button:not(:disabled)') ?? [])];
  const focus = (index: number) => {
    const target = buttons().at(index);
    if (target instanceof HTMLElement) target.focus();
  };
  useLayoutEffect(() => focus(0), []);
  const onKeyDown = (event: KeyboardEvent) => {
    const all = buttons();
    const current = all.findIndex((candidate) => candidate === document.activeElement);
    if (event.key === 'ArrowDown') focus((current + 1) % all.length);
    else if (event.key === 'ArrowUp') focus(current - 1);
    else if (event.key === 'Home') focus(0);
    else if (event.key === 'End') focus(-1);
    else if (event.key === 'Escape') close(true);
    else return;
    event.preventDefault(); // Esc closes the menu, and stops no answer
  };
  return (
    <div
      ref={menu}
      class="popup menu-popup"
      role="menu"
      tabIndex={-1}
      aria-label={words.moreActions}
      onKeyDown={onKeyDown}
      onFocusOut={({ relatedTarget }) => {
        // The button closes its menu itself.
        const isInside =
          relatedTarget instanceof Node && menu.current?.parentElement?.contains(relatedTarget);
        if (isInside !== true) close(false);
      }}
    >
      {items.map(({ label, icon, isDisabled, run }) => (
        <button
          key={label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          disabled={isDisabled}
          onClick={() => {
            close(true);
            run();
          }}
        >
          <Icon name={icon} />
          {label}
        </button>
      ))}
    </div>
  );
}
