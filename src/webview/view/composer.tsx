import type { Page } from '../state/page.ts';
import { words } from '../words.ts';
import { ChatMenu } from './chatMenu.tsx';
import { Icon } from './icon.tsx';
import { MessageBox } from './messageBox.tsx';
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
      <ChatMenu page={page} />
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
