import { useId } from 'preact/hooks';
import type { ChatChoice, Page } from '../state/page.ts';
import { words } from '../words.ts';
import { Icon } from './icon.tsx';

interface ChatChooserProps {
  readonly page: Page;
  readonly choices: readonly ChatChoice[];
}

/** In the transcript's place, for a panel whose state was lost: never an empty chat instead of the one it showed. */
export function ChatChooser({ page, choices }: ChatChooserProps) {
  const titleId = useId();
  const isEmpty = choices.length === 0;
  const isDisabled = !page.isConnected.value;
  return (
    <section class="chooser" aria-labelledby={titleId}>
      <div class="chooser-content">
        <Icon name="comment-discussion" />
        <h2 id={titleId}>{isEmpty ? words.chooseNoneTitle : words.chooseTitle}</h2>
        <p>{isEmpty ? words.chooseNoneHint : words.chooseHint}</p>
        {!isEmpty && (
          <ul>
            {choices.map(({ sessionId, title, detail }) => (
              <li key={sessionId}>
                <button
                  type="button"
                  class="chooser-choice"
                  disabled={isDisabled}
                  onClick={() => page.chooseChat(sessionId)}
                >
                  <span class="choice">
                    <span class="choice-name">{title === '' ? words.untitled : title}</span>
                    {detail !== '' && <span class="choice-detail">{detail}</span>}
                  </span>
                </button>
              </li>
            ))}
          </ul>
        )}
        <button
          type="button"
          class={isEmpty ? 'button' : 'button secondary'}
          disabled={isDisabled}
          onClick={() => page.chooseChat(null)}
        >
          <Icon name="add" />
          {words.newChat}
        </button>
      </div>
    </section>
  );
}
