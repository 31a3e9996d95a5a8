import type { ComponentChildren } from 'preact';
import type { Page } from '../state/page.ts';
import { words } from '../words.ts';
import { Icon } from './icon.tsx';

/** The states of the chat that the user should know, above the composer; each is a `status`. */
export function Notices({ page }: { readonly page: Page }) {
  const saving = page.chat.savingProblem.value;
  const passing = page.notice.value;
  const folder = page.chat.folder.value;
  return (
    <div class="notices">
      <ConnectionNotice page={page} />
      <UnavailableNotice page={page} />
      {saving !== null && (
        <Notice icon="warning" kind="warning" text={`${words.savingTitle} ${saving.message}`}>
          <button type="button" class="button" onClick={() => page.saveAgain()}>
            {words.saveAgain}
          </button>
        </Notice>
      )}
      <FolderNotice page={page} />
      {page.isArchived.value && folder === null && (
        <Notice icon="archive" kind="info" text={words.archivedNotice}>
          <button
            type="button"
            class="button"
            disabled={!page.isConnected.value}
            onClick={() => page.reopen()}
          >
            {words.reopen}
          </button>
          <button type="button" class="button secondary" onClick={() => page.newChat()}>
            {words.newChat}
          </button>
        </Notice>
      )}
      {page.isElsewhere.value && !page.isArchived.value && folder === null && (
        <Notice icon="lock" kind="info" text={words.elsewhere}>
          <button
            type="button"
            class="button"
            disabled={!page.isConnected.value}
            onClick={() => page.takeOver()}
          >
            {words.takeOver}
          </button>
          <button
            type="button"
            class="button secondary"
            disabled={!page.isConnected.value}
            onClick={() => page.branch(null)}
          >
            {words.branch}
          </button>
        </Notice>
      )}
      {passing !== null && (
        <Notice icon="info" kind="info" text={passing}>
          {page.canSendAnyway.value && (
            <button
              type="button"
              class="button"
              disabled={!page.canSend.value}
              onClick={() => page.sendAnyway()}
            >
              {words.sendAnyway}
            </button>
          )}
          <button
            type="button"
            class="icon-button"
            aria-label={words.dismiss}
            title={words.dismiss}
            onClick={() => page.dismissNotice()}
          >
            <Icon name="close" />
          </button>
        </Notice>
      )}
    </div>
  );
}

function ConnectionNotice({ page }: { readonly page: Page }) {
  const phase = page.connection.phase.value;
  if (phase !== 'unanswered' && phase !== 'stopped') return null;
  return (
    <Notice icon="debug-disconnect" kind="warning" text={words.connecting[phase]}>
      <ReloadButton page={page} />
    </Notice>
  );
}

function UnavailableNotice({ page }: { readonly page: Page }) {
  const problem = page.unavailable.value;
  if (problem === null) return null;
  return (
    <Notice icon="error" kind="error" title={words.unavailableTitle} text={problem.message}>
      <ReloadButton page={page} />
      <button type="button" class="button secondary" onClick={() => page.openSettings()}>
        {words.openSettings}
      </button>
    </Notice>
  );
}

function FolderNotice({ page }: { readonly page: Page }) {
  const folder = page.chat.folder.value;
  if (folder === null) return null;
  return (
    <Notice icon="folder" kind="info" text={words.inOtherFolder(folder)}>
      <button type="button" class="button" disabled={!page.isConnected.value} onClick={() => page.bringIn()}>
        {words.bringIn}
      </button>
    </Notice>
  );
}

interface NoticeProps {
  readonly icon: string;
  readonly kind: 'info' | 'warning' | 'error';
  readonly title?: string;
  readonly text: string;
  /** What can be done about it. */
  readonly children?: ComponentChildren;
}

function Notice({ icon, kind, title, text, children }: NoticeProps) {
  return (
    <div class={`notice ${kind}`} role="status">
      <Icon name={icon} />
      <div class="notice-text">
        {title !== undefined && <strong>{title}</strong>}
        <span>{text}</span>
      </div>
      {children !== undefined && <div class="notice-actions">{children}</div>}
    </div>
  );
}

/**
 * A dead extension host cannot be asked for anything. The link is run by the window itself (the panel allows this one
 * command); a host that lives gets the message too.
 */
function ReloadButton({ page }: { readonly page: Page }) {
  return (
    <a
      class="button"
      role="button"
      href="command:workbench.action.reloadWindow"
      onClick={() => page.reloadWindow()}
      onKeyDown={(event) => {
        if (event.key !== ' ') return;
        event.preventDefault();
        event.currentTarget.click();
      }}
    >
      {words.reloadWindow}
    </a>
  );
}
