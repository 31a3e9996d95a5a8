import { useEffect, useMemo } from 'preact/hooks';
import { MarkdownContext, type MarkdownActions } from '../markdown/context.ts';
import type { Page } from '../state/page.ts';
import { words } from '../words.ts';
import { ChatChooser } from './chatChooser.tsx';
import { Composer } from './composer.tsx';
import { CompositionGuard } from './compositionGuard.ts';
import { Notices } from './notices.tsx';
import { Transcript } from './transcript.tsx';

export function Panel({ page }: { readonly page: Page }) {
  const actions = useMemo<MarkdownActions>(
    () => ({ openLink: (href) => page.openLink(href), copy: (text) => page.copy(text) }),
    [page],
  );
  useEffect(() => stopOnEscape(page), [page]);
  return (
    <MarkdownContext.Provider value={actions}>
      <main class="panel">
        <h1 class="visually-hidden">{page.chat.session.value?.title || words.untitled}</h1>
        {page.choices.value === null ? (
          <Transcript page={page} />
        ) : (
          <ChatChooser page={page} choices={page.choices.value} />
        )}
        <Notices page={page} />
        <Composer page={page} />
        <div class="visually-hidden" aria-live="polite">
          {page.announcement.value}
        </div>
      </main>
    </MarkdownContext.Provider>
  );
}

/** Esc stops the answer wherever the focus is, but never while it closes an input method's candidates. */
function stopOnEscape(page: Page): () => void {
  const guard = new CompositionGuard();
  const start = () => guard.start();
  const end = () => guard.end();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && !event.defaultPrevented && !guard.owns(event)) page.stop();
  };
  document.addEventListener('compositionstart', start);
  document.addEventListener('compositionend', end);
  document.addEventListener('keydown', onKeyDown);
  return () => {
    document.removeEventListener('compositionstart', start);
    document.removeEventListener('compositionend', end);
    document.removeEventListener('keydown', onKeyDown);
  };
}
