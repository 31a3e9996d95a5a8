import { useContext, useEffect, useMemo, useState } from 'preact/hooks';
import { words } from '../words.ts';
import { MarkdownContext } from './context.ts';
import { highlight, type CodePiece } from './highlight.ts';

interface CodeBlockProps {
  readonly code: string;
  readonly language: string;
  /** It still grows: plain until it is whole. */
  readonly isOpen: boolean;
}

const copiedMs = 1500;

export function CodeBlock({ code, language, isOpen }: CodeBlockProps) {
  const pieces = useMemo(
    () => (isOpen ? [code] : highlight(code, language.toLowerCase())),
    [code, language, isOpen],
  );
  return (
    <div class="code-block">
      <div class="code-head">
        <span class="code-language">{language}</span>
        <CopyButton text={code} />
      </div>
      <pre tabIndex={0} aria-label={language === '' ? 'Code' : `Code, ${language}`} role="group">
        <code>{pieces.map(renderPiece)}</code>
      </pre>
    </div>
  );
}

function CopyButton({ text }: { readonly text: string }) {
  const { copy } = useContext(MarkdownContext);
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), copiedMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const label = isCopied ? words.copied : words.copy;
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={label}
      onClick={() => {
        copy(text);
        setCopied(true);
      }}
    >
      <span class={`codicon codicon-${isCopied ? 'check' : 'copy'}`} aria-hidden="true" />
    </button>
  );
}

function renderPiece(piece: CodePiece) {
  if (typeof piece === 'string') return piece;
  const names = piece.scope.split('.').map((part, depth) => (depth === 0 ? `hl-${part}` : part));
  return <span class={names.join(' ')}>{piece.pieces.map(renderPiece)}</span>;
}
