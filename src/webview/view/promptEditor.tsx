import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Page } from '../state/page.ts';
import { words } from '../words.ts';
import { CompositionGuard } from './compositionGuard.ts';
import { fitHeight } from './fitHeight.ts';

/** In the place of a prompt that is being changed. Not a controlled input, like the composer. */
export function PromptEditor({ page }: { readonly page: Page }) {
  const { edit } = page;
  const box = useRef<HTMLTextAreaElement>(null);
  const guard = useMemo(() => new CompositionGuard(), []);
  useLayoutEffect(() => {
    const area = box.current;
    if (area === null) return;
    area.value = edit.text.peek();
    area.setSelectionRange(area.value.length, area.value.length);
    fitHeight(area);
    area.focus();
  }, [edit]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (guard.owns(event)) return;
    if (event.key === 'Escape') edit.cancel();
    else if (event.key === 'Enter' && !event.shiftKey && !event.altKey) page.sendEdit();
    else return;
    event.preventDefault(); // Esc closes the box, and stops no answer
  };
  return (
    <form
      class="prompt-editor"
      onSubmit={(event) => {
        event.preventDefault();
        page.sendEdit();
      }}
    >
      <textarea
        ref={box}
        class="message-box"
        aria-label={words.editedMessage}
        rows={1}
        spellcheck={true}
        readOnly={edit.isSending.value}
        onCompositionStart={() => guard.start()}
        onCompositionEnd={() => guard.end()}
        onInput={(event) => {
          edit.type(event.currentTarget.value);
          fitHeight(event.currentTarget);
        }}
        onKeyDown={onKeyDown}
      />
      <div class="prompt-editor-bar">
        <span class="hint">{words.editHint}</span>
        <button type="button" class="button secondary" onClick={() => edit.cancel()}>
          {words.cancel}
        </button>
        <button type="submit" class="button" disabled={!page.canSendEdit.value}>
          {words.resend}
        </button>
      </div>
    </form>
  );
}
