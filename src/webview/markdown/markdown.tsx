import { Component } from 'preact';
import { useRef } from 'preact/hooks';
import { GrowingText, type Block } from './growingText.ts';
import { renderTokens } from './renderTokens.tsx';

interface MarkdownProps {
  readonly text: string;
  /** No more text will come. */
  readonly isFinished: boolean;
}

export function Markdown({ text, isFinished }: MarkdownProps) {
  const growing = useRef<GrowingText | null>(null);
  growing.current ??= new GrowingText();
  const blocks = growing.current.update(text, isFinished);
  return (
    <div class="markdown">
      {blocks.map((block, index) => (
        <BlockView key={index} block={block} />
      ))}
    </div>
  );
}

/** Renders again only when its block was parsed again: closed blocks keep their nodes, and a selection in them. */
class BlockView extends Component<{ readonly block: Block }> {
  override shouldComponentUpdate(next: { readonly block: Block }): boolean {
    const { block } = this.props;
    return next.block.tokens !== block.tokens || next.block.isOpen !== block.isOpen;
  }

  override render() {
    const { tokens, isOpen } = this.props.block;
    return renderTokens(tokens, isOpen);
  }
}
