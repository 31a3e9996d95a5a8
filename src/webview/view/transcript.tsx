import { useSignalEffect } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Page } from '../state/page.ts';
import { words } from '../words.ts';
import { ForkSwitcher } from './forkSwitcher.tsx';
import { Icon } from './icon.tsx';
import { ScrollKeeper } from './scrollKeeper.ts';
import { TranscriptEnd } from './transcriptEnd.tsx';
import { Turn } from './turn.tsx';
import { Welcome } from './welcome.tsx';

/** What is not waited for comes when the page has nothing else to do, or after this. */
const loadAheadWithinMs = 1000;

export function Transcript({ page }: { readonly page: Page }) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [keeper, setKeeper] = useState<ScrollKeeper | null>(null);
  useLayoutEffect(() => {
    if (scroller.current === null || content.current === null) return undefined;
    const made = new ScrollKeeper(scroller.current, {
      onMove: (position) => page.moveTo(position),
      onNearTop: () => page.loadOlder(),
    });
    setKeeper(made);
    return made.listen(content.current);
  }, [page]);
  useSignalEffect(() => {
    if (page.sent.value > 0) keeper?.jumpToEnd();
  });
  return (
    <div class="transcript">
      <div
        ref={scroller}
        class="scroller"
        role="log"
        aria-label={words.conversation}
        aria-live="off"
        tabIndex={0}
      >
        <div ref={content} class="content">
          {keeper !== null && <Turns page={page} keeper={keeper} />}
          <TranscriptEnd page={page} />
        </div>
      </div>
      {keeper !== null && <JumpButton keeper={keeper} />}
    </div>
  );
}

interface TurnsProps {
  readonly page: Page;
  readonly keeper: ScrollKeeper;
}

/** Holds the view's place over every change of the rows. */
function Turns({ page, keeper }: TurnsProps) {
  const { chat } = page;
  const turns = chat.turns.value;
  const opened = page.opened.value;
  const shownOpening = useRef(0);
  keeper.beforeChange(); // the old rows are still in the document
  useLayoutEffect(() => {
    if (shownOpening.current !== opened) {
      shownOpening.current = opened;
      const fork = page.forkOfArrival();
      if (fork === null) keeper.restore(page.draft.position);
      else keeper.goBelow(fork.after);
    }
    if (chat.state !== null) keeper.afterChange(chat.hasOlder.peek());
  }, [turns, opened]);
  useEffect(() => {
    const waiting = requestIdleCallback(() => page.loadAhead(), { timeout: loadAheadWithinMs });
    return () => cancelIdleCallback(waiting);
  }, [turns, opened]);

  if (chat.session.value === null) return <Opening page={page} />;
  if (turns.length === 0) return page.draft.pending.value.length === 0 ? <Welcome /> : null;
  return (
    <>
      {chat.hasOlder.value ? (
        <div class="loading-older">{words.loadingOlder}</div>
      ) : (
        <ForkSwitcher page={page} after={null} />
      )}
      {turns.map((turn) => (
        <Turn key={turn.id} page={page} turn={turn} />
      ))}
    </>
  );
}

/** Nothing is known yet: blank for a moment, a word if it takes longer (the style sheet delays it). */
function Opening({ page }: { readonly page: Page }) {
  if (page.unavailable.value !== null || page.connection.phase.value !== 'connecting') return null;
  return <div class="opening">{words.loading}</div>;
}

function JumpButton({ keeper }: { readonly keeper: ScrollKeeper }) {
  if (keeper.isFollowing.value) return null;
  return (
    <button
      type="button"
      class="icon-button jump"
      aria-label={words.jumpToNewest}
      title={words.jumpToNewest}
      onClick={() => keeper.jumpToEnd()}
    >
      <Icon name="arrow-down" />
    </button>
  );
}
