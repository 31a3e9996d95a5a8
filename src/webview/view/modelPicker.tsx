import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ModelPicker as Models } from '../../core/protocol/hostMessages.ts';
import type { Page } from '../state/page.ts';
import { words } from '../words.ts';
import { Icon } from './icon.tsx';

/** A button that opens a list of models; keys as in a native select. */
export function ModelPicker({ page }: { readonly page: Page }) {
  const isOpen = page.isModelListOpen;
  const models = page.models.value;
  const selected = models?.choices.find((choice) => choice.id === models.selectedId);
  return (
    <div class="model-picker">
      <button
        type="button"
        class="model-button"
        aria-haspopup="listbox"
        aria-expanded={isOpen.value}
        aria-label={words.model(selected?.name ?? models?.selectedId ?? words.noModel)}
        title={selected?.detail ?? words.chooseModel}
        disabled={models === null || !page.isWritable.value}
        onClick={() => (isOpen.value = !isOpen.value)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          isOpen.value = true;
        }}
      >
        <span class="model-name">{selected?.name ?? models?.selectedId ?? words.noModel}</span>
        <Icon name="chevron-down" />
      </button>
      {isOpen.value && models !== null && <ModelList page={page} models={models} />}
    </div>
  );
}

interface ModelListProps {
  readonly page: Page;
  readonly models: Models;
}

function ModelList({ page, models }: ModelListProps) {
  const { choices, selectedId, problem } = models;
  const start = Math.max(
    0,
    choices.findIndex((choice) => choice.id === selectedId),
  );
  const active = useSignal(start);
  const popup = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLUListElement>(null);
  /** Whence it was opened: its button, or the composer by `/model`. */
  const opener = useRef(document.activeElement);
  useLayoutEffect(() => list.current?.focus(), []);
  useLayoutEffect(() => {
    list.current?.children[active.value]?.scrollIntoView({ block: 'nearest' });
  }, [active.value]);

  const close = (givesFocusBack: boolean) => {
    page.isModelListOpen.value = false;
    if (givesFocusBack && opener.current instanceof HTMLElement) opener.current.focus();
  };
  const choose = (index: number) => {
    const choice = choices[index];
    if (choice !== undefined && choice.id !== selectedId) page.selectModel(choice.id);
    close(true);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const last = choices.length - 1;
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: Math.min(active.value + 1, last),
      ArrowUp: Math.max(active.value - 1, 0),
      Home: 0,
      End: last,
    };
    const next = moves[event.key] ?? findByLetter(choices, event.key, active.value);
    if (next !== undefined) active.value = next;
    else if (event.key === 'Enter' || event.key === ' ') choose(active.value);
    else return;
    event.preventDefault();
  };
  return (
    <div
      ref={popup}
      class="popup model-popup"
      onFocusOut={(event) => {
        const { relatedTarget } = event;
        // The button closes its list itself.
        const isInside =
          relatedTarget instanceof Node && popup.current?.parentElement?.contains(relatedTarget);
        if (isInside !== true) close(false);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation(); // closes the list, and stops no answer
        close(true);
      }}
    >
      <ul
        ref={list}
        role="listbox"
        tabIndex={0}
        aria-label={words.chooseModel}
        aria-activedescendant={`model-${active.value}`}
        onKeyDown={onKeyDown}
      >
        {choices.map((choice, index) => (
          <li
            key={choice.id}
            id={`model-${index}`}
            role="option"
            aria-selected={choice.id === selectedId}
            class={index === active.value ? 'active' : ''}
            onPointerMove={() => (active.value = index)}
            onClick={() => choose(index)}
          >
            <Icon name={choice.id === selectedId ? 'check' : 'blank'} />
            <span class="choice">
              <span class="choice-name">{choice.name}</span>
              {choice.detail !== '' && <span class="choice-detail">{choice.detail}</span>}
            </span>
          </li>
        ))}
      </ul>
      <div class="model-footer">
        {problem !== null && <p class="model-problem">{problem}</p>}
        <button
          type="button"
          class="link-button"
          onClick={() => {
            page.openSettings();
            close(true);
          }}
        >
          {words.openSettings}
        </button>
      </div>
    </div>
  );
}

/** The next choice whose name starts with the typed letter. */
function findByLetter(choices: Models['choices'], key: string, from: number): number | undefined {
  if (key.length !== 1 || key === ' ') return undefined;
  const order = choices.map((_, offset) => (from + 1 + offset) % choices.length);
  return order.find((index) => choices[index]?.name.toLowerCase().startsWith(key.toLowerCase()));
}
