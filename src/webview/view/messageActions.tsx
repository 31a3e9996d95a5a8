import type { Message } from '../../core/session/model.ts';
import type { Page } from '../state/page.ts';
import { words } from '../words.ts';
import { IconButton } from './iconButton.tsx';

interface MessageActionsProps {
  readonly page: Page;
  readonly message: Message;
}

/** What can be done with one message: seen under the pointer and with the focus in it, and always there for the keyboard. */
export function MessageActions({ page, message }: MessageActionsProps) {
  const { id, role, text } = message;
  const hasText = message.contents === 'here';
  const isDisabled = !page.isConnected.value;
  const isOurs = page.chat.folder.value === null;
  return (
    <div class="message-actions">
      {isOurs && hasText && role === 'user' && (
        <IconButton
          label={words.edit}
          icon="edit"
          isDisabled={isDisabled}
          run={() => page.startEdit(message)}
        />
      )}
      {isOurs && (
        <IconButton
          label={words.branch}
          icon="repo-forked"
          isDisabled={isDisabled}
          run={() => page.branch(id)}
        />
      )}
      {hasText && (
        <IconButton
          label={words.copyMessage}
          icon="copy"
          isDisabled={isDisabled}
          run={() => page.copy(text)}
        />
      )}
    </div>
  );
}
