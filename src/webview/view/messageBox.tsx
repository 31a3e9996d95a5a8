import { effect, useSignalEffect } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { CommandCompletion } from '../state/commandCompletion.ts';
import type { Page } from '../state/page.ts';
import { PromptHistory } from '../state/promptHistory.ts';
import { words } from '../words.ts';
import { CommandList, commandListId, commandOptionId } from './commandList.tsx';
import { CompositionGuard } from './compositionGuard.ts';
import { fitHeight } from './fitHeight.ts';

/** Not a controlled input: what the user types is in the element first, and no render may ever put it back. */
export function MessageBox({ page }: { readonly page: Page }) {
  const { draft } = page;
  const box = useRef<HTMLTextAreaElement>(null);
  const guard = useMemo(() => new CompositionGuard(), []);
  const history = useMemo(() => new PromptHistory(() => earlierPrompts(page)), [page]);
  const completion = useMemo(() => new CommandCompletion(page), [page]);

  const show = (text: string, caret: number) => {
    const area = box.current;
    if (area === null) return;
    area.value = text;
    area.setSelectionRange(caret, caret);
    fitHeight(area);
  };
  // At once, not with the next frame: a key pressed in between would bring a sent text back as the start of the next.
  useLayoutEffect(
    () =>
      effect(() => {
        const text = draft.text.value;
        if (box.current !== null && box.current.value !== text) show(text, draft.caret);
      }),
    [draft],
  );
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
    if (isPlain && completion.takeKey(event.key)) {
      event.preventDefault();
    } else if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      page.send();
    } else if (isPlain && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
      if (!event.currentTarget.readOnly) recall(event, event.currentTarget);
    }
  };
  const hasCompletions = completion.options.value.length > 0;
  return (
    <>
      <CommandList completion={completion} />
      <textarea
        ref={box}
        class="message-box"
        aria-label={words.message}
        placeholder={words.messagePlaceholder}
        aria-autocomplete="list"
        aria-controls={hasCompletions ? commandListId : undefined}
        aria-activedescendant={hasCompletions ? commandOptionId(completion.active.value) : undefined}
        rows={1}
        spellcheck={true}
        disabled={page.isArchived.value}
        readOnly={page.isReadOnly.value}
        onFocus={() => (completion.isFocused.value = true)}
        onBlur={() => (completion.isFocused.value = false)}
        onCompositionStart={() => guard.start()}
        onCompositionEnd={() => guard.end()}
        onInput={(event) => {
          draft.type(event.currentTarget.value, event.currentTarget.selectionEnd);
          completion.typed();
          fitHeight(event.currentTarget);
        }}
        onKeyDown={onKeyDown}
        onKeyUp={(event) => draft.moveCaret(event.currentTarget.selectionEnd)}
        onPointerUp={(event) => draft.moveCaret(event.currentTarget.selectionEnd)}
      />
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
