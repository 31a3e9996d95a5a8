import type { ComponentChildren } from 'preact';
import type { Message } from '../../core/session/model.ts';
import { readableText } from '../../core/session/text.ts';
import { Markdown } from '../markdown/markdown.tsx';
import type { MessageView } from '../state/chatView.ts';
import type { Page } from '../state/page.ts';
import { words } from '../words.ts';
import { useComputed } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';
import { MessageActions } from './messageActions.tsx';
import { PromptEditor } from './promptEditor.tsx';
import { ToolCall } from './toolCard.tsx';

interface ArticleProps {
  readonly page: Page;
  readonly id: string;
  /** Follows another answer row of the same turn: the name is not repeated for the eye. */
  readonly isContinued: boolean;
}

export function MessageArticle({ page, id, isContinued }: ArticleProps) {
  const view = page.chat.view(id);
  if (view === undefined) return null;
  const message = view.message.value;
  switch (message.role) {
    case 'user':
      return <PromptArticle page={page} message={message} view={view} />;
    case 'summary':
      return <SummaryArticle message={message} />;
    case 'assistant':
    case 'tool':
      return <AnswerArticle page={page} message={message} view={view} isContinued={isContinued} />;
  }
}

interface PromptProps {
  readonly page: Page;
  readonly message: Message;
  readonly view: MessageView;
}

function PromptArticle({ page, message, view }: PromptProps) {
  const isEdited = useComputed(() => page.edit.edited.value?.messageId === message.id).value;
  const article = useRef<HTMLElement>(null);
  const wasEdited = useRef(false);
  useLayoutEffect(() => {
    // The focus goes back to where it came from.
    if (wasEdited.current && !isEdited) article.current?.querySelector('button')?.focus();
    wasEdited.current = isEdited;
  }, [isEdited]);
  return (
    <article
      ref={article}
      class={`message prompt${isEdited ? ' edited' : ''}`}
      aria-label={words.you}
      data-message-id={message.id}
      data-status={message.status}
    >
      {isEdited && <PromptEditor page={page} />}
      {!isEdited && message.contents === 'here' && <div class="prompt-text">{message.text}</div>}
      <UnreadableRemark message={message} />
      {message.status === 'not_sent' && <Remark icon="warning" text={words.notSent} />}
      {message.problem !== null && <ProblemBox message={message} />}
      <footer>
        <SavedMark view={view} message={message} />
      </footer>
      {!isEdited && <MessageActions page={page} message={message} />}
    </article>
  );
}

/** A prompt that the host has not taken yet. */
export function PendingArticle({ id, text }: { readonly id: string; readonly text: string }) {
  return (
    <article class="message prompt pending" aria-label={words.you} data-message-id={id} data-status="pending">
      <div class="prompt-text">{text}</div>
      <footer>
        <span class="mark">{words.sending}</span>
      </footer>
    </article>
  );
}

function SummaryArticle({ message }: { readonly message: Message }) {
  return (
    <details class="folded summary" data-message-id={message.id} data-status={message.status}>
      <summary>
        <Icon name="fold" />
        {words.summary}
      </summary>
      <Markdown text={message.text} isFinished={message.status !== 'streaming'} />
      <UnreadableRemark message={message} />
    </details>
  );
}

interface AnswerProps {
  readonly page: Page;
  readonly message: Message;
  readonly view: MessageView;
  readonly isContinued: boolean;
}

function AnswerArticle({ page, message, view, isContinued }: AnswerProps) {
  const isFinished = message.status !== 'streaming';
  const isShown = message.text !== '' || isFinished;
  return (
    <article
      class={`message answer${isContinued ? ' continued' : ''}`}
      aria-label={words.assistant}
      aria-busy={!isFinished}
      data-message-id={message.id}
      data-status={message.status}
    >
      {!isContinued && (
        <div class="author">
          <Icon name="comment-discussion-sparkle" />
          {words.assistant}
        </div>
      )}
      {message.reasoning !== '' && (
        <details class="folded reasoning">
          <summary>
            <Icon name="lightbulb" />
            {words.reasoning}
          </summary>
          <Markdown text={message.reasoning} isFinished={isFinished || message.text !== ''} />
        </details>
      )}
      {isShown && message.text !== '' && <Markdown text={message.text} isFinished={isFinished} />}
      <UnreadableRemark message={message} />
      {message.toolCalls.map((call) => (
        <ToolCall key={call.id} page={page} call={call} />
      ))}
      {message.status === 'interrupted' && (
        <Remark icon="debug-disconnect" text={message.problem?.message ?? words.interrupted} />
      )}
      {message.status === 'error' && <ProblemBox message={message} />}
      {isFinished && (
        <footer>
          <SavedMark view={view} message={message} />
          {message.usage !== null && (
            <span class="usage">{words.tokens(message.usage.inputTokens, message.usage.outputTokens)}</span>
          )}
        </footer>
      )}
      <MessageActions page={page} message={message} />
    </article>
  );
}

function SavedMark({ view, message }: { readonly view: MessageView; readonly message: Message }) {
  if (message.status === 'streaming') return null;
  const isSaved = view.isSaved.value;
  const label = isSaved ? words.saved : words.notSaved;
  return (
    <span class={`mark ${isSaved ? 'saved' : 'unsaved'}`} title={label}>
      <Icon name={isSaved ? 'check' : 'circle-filled'} />
      <span class={isSaved ? 'visually-hidden' : ''}>{label}</span>
    </span>
  );
}

function Remark({ icon, text }: { readonly icon: string; readonly text: ComponentChildren }) {
  return (
    <div class="remark">
      <Icon name={icon} />
      <span>{text}</span>
    </div>
  );
}

function UnreadableRemark({ message }: { readonly message: Message }) {
  if (message.contents === 'here') return null;
  return <Remark icon="error" text={readableText(message)} />;
}

function ProblemBox({ message }: { readonly message: Message }) {
  return (
    <div class="problem">
      <Icon name="error" />
      <span>{message.problem?.message ?? words.failed}</span>
    </div>
  );
}
