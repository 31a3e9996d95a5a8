import { useSignalEffect } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Page } from '../state/page.ts';
import { PromptHistory } from '../state/promptHistory.ts';
import { words } from '../words.ts';
import { CompositionGuard } from './compositionGuard.ts';
import { Icon } from './icon.tsx';
import { ModelPicker } from './modelPicker.tsx';

export function Composer({ page }: { readonly page: Page }) {
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        page.send();
      }}
    >
      <div class={`composer-box${page.isArchived.value || page.isReadOnly.value ? ' inactive' : ''}`}>
        <MessageBox page={page} />
        <div class="composer-bar">
          <ModelPicker page={page} />
          <span class="spacer" />
          <ChatButtons page={page} />
          <TurnButtons page={page} />
        </div>
      </div>
    </form>
  );
}

/** Not a controlled input: what the user types is in the element first, and no render may ever put it back. */
function MessageBox({ page }: { readonly page: Page }) {
  const { draft } = page;
  const box = useRef<HTMLTextAreaElement>(null);
  const guard = useMemo(() => new CompositionGuard(), []);
  const history = useMemo(() => new PromptHistory(() => earlierPrompts(page)), [page]);

  const show = (text: string, caret: number) => {
    const area = box.current;
    if (area === null) return;
    area.value = text;
    area.setSelectionRange(caret, caret);
    fitHeight(area);
  };
  useSignalEffect(() => {
    const text = draft.text.value;
    if (box.current !== null && box.current.value !== text) show(text, draft.caret);
  });
  useSignalEffect(() => {
    if (page.focusRequests.value > 0) box.current?.focus();
  });
  useLayoutEffect(() => show(draft.text.peek(), draft.caret), []);
  useEffect(() => {
    const area = box.current;
    return area === null ? undefined : followWindow(area);
  }, []);

  const recall = (event: KeyboardEvent, area: HTMLTextAreaElement) => {
    const isOlder = event.key === 'ArrowUp';
    const around = isOlder ? area.value.slice(0, area.selectionStart) : area.value.slice(area.selectionEnd);
    if (around.includes('\n')) return; // the caret has lines to go first
    const text = isOlder ? history.older(area.value) : history.newer(area.value);
    if (text === null) return;
    event.preventDefault();
    show(text, text.length);
    draft.type(text, text.length);
  };
  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLTextAreaElement }) => {
    if (guard.owns(event)) return;
    const isPlain = !event.shiftKey && !event.ctrlKey && !event.altKey && !event.metaKey;
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      page.send();
    } else if (isPlain && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
      if (!event.currentTarget.readOnly) recall(event, event.currentTarget);
    }
  };
  return (
    <textarea
      ref={box}
      class="message-box"
      aria-label={words.message}
      placeholder={words.messagePlaceholder}
      rows={1}
      spellcheck={true}
      disabled={page.isArchived.value}
      readOnly={page.isReadOnly.value}
      onCompositionStart={() => guard.start()}
      onCompositionEnd={() => guard.end()}
      onInput={(event) => {
        draft.type(event.currentTarget.value, event.currentTarget.selectionEnd);
        fitHeight(event.currentTarget);
      }}
      onKeyDown={onKeyDown}
      onKeyUp={(event) => draft.moveCaret(event.currentTarget.selectionEnd)}
      onPointerUp={(event) => draft.moveCaret(event.currentTarget.selectionEnd)}
    />
  );
}

function TurnButtons({ page }: { readonly page: Page }) {
  const running = page.chat.running.value;
  return (
    <>
      {running !== null && (
        <button
          type="button"
          class="icon-button stop"
          aria-label={words.stop}
          title={`${words.stop} (Esc)`}
          disabled={running.phase === 'stopping' || !page.isConnected.value || page.isElsewhere.value}
          onClick={() => page.stop()}
        >
          <Icon name="stop-circle" />
        </button>
      )}
      <button
        type="submit"
        class="icon-button send"
        aria-label={words.send}
        title={`${words.send} (Enter)`}
        disabled={!page.canSend.value}
      >
        <Icon name="send" />
      </button>
    </>
  );
}

function ChatButtons({ page }: { readonly page: Page }) {
  if (!page.isOpen.value || page.chat.turns.value.length === 0) return null;
  return (
    <>
      <button
        type="button"
        class="icon-button"
        aria-label={words.archive}
        title={words.archive}
        onClick={() => page.archive()}
      >
        <Icon name="archive" />
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label={words.newChat}
        title={words.newChat}
        onClick={() => page.newChat()}
      >
        <Icon name="add" />
      </button>
    </>
  );
}

function earlierPrompts(page: Page): readonly string[] {
  const prompts = (page.chat.state?.messages ?? []).filter((message) => message.role === 'user');
  return prompts.map((message) => message.text).filter((text, index, all) => text !== all[index - 1]);
}

/** Keeps the height right, and takes the caret when the panel gets the focus: never before, to steal it from nobody. */
function followWindow(area: HTMLTextAreaElement): () => void {
  const onResize = () => fitHeight(area);
  const onFocus = () => {
    if (document.activeElement === null || document.activeElement === document.body) area.focus();
  };
  window.addEventListener('resize', onResize);
  window.addEventListener('focus', onFocus);
  if (document.hasFocus()) onFocus();
  return () => {
    window.removeEventListener('resize', onResize);
    window.removeEventListener('focus', onFocus);
  };
}

/** Grows with its text; the style sheet sets the limit. */
function fitHeight(area: HTMLTextAreaElement): void {
  area.style.height = 'auto';
  area.style.height = `${area.scrollHeight}px`;
}
