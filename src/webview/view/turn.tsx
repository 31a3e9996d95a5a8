import { Component, Fragment } from 'preact';
import type { Page } from '../state/page.ts';
import type { Row, Section, TurnLayout } from '../state/turns.ts';
import { words } from '../words.ts';
import { ForkSwitcher } from './forkSwitcher.tsx';
import { Icon } from './icon.tsx';
import { MessageArticle } from './messageArticle.tsx';
import { estimateHeight } from './turnHeight.ts';
import { ToolResult } from './toolCard.tsx';

interface TurnProps {
  readonly page: Page;
  readonly turn: TurnLayout;
}

/** A prompt and what followed. Renders again only when its rows change; text streams further down. */
export class Turn extends Component<TurnProps> {
  override shouldComponentUpdate(next: TurnProps): boolean {
    return next.turn !== this.props.turn;
  }

  override render() {
    const { page, turn } = this.props;
    const containIntrinsicSize = `auto ${estimateHeight(page.chat, turn)}em`;
    return (
      <div class="turn" data-turn-id={turn.id} style={{ containIntrinsicSize }}>
        {turn.sections.map((section) => (
          <SectionView key={section.rows[0]?.id} page={page} section={section} />
        ))}
      </div>
    );
  }
}

function SectionView({ page, section }: { readonly page: Page; readonly section: Section }) {
  const rows = section.rows.map((row, index) => {
    const before = section.rows[index - 1]?.role;
    const isContinued = before === 'assistant' || before === 'tool';
    return (
      <Fragment key={row.id}>
        <RowView page={page} row={row} isContinued={isContinued} />
        <ForkSwitcher page={page} after={row.id} />
      </Fragment>
    );
  });
  if (section.kind === 'rows') return <>{rows}</>;
  return (
    <details class="folded earlier">
      <summary>
        <Icon name="history" />
        {words.earlierAttempt}
      </summary>
      {rows}
    </details>
  );
}

interface RowProps {
  readonly page: Page;
  readonly row: Row;
  readonly isContinued: boolean;
}

function RowView({ page, row, isContinued }: RowProps) {
  return row.role === 'tool' ? (
    <ToolResult page={page} id={row.id} />
  ) : (
    <MessageArticle page={page} id={row.id} isContinued={isContinued} />
  );
}
