import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { MarkdownContext } from './context.ts';
import { isWebLink } from './links.ts';

interface LinkProps {
  /** As `toLink` or `toFileLink` let it through. */
  readonly link: string;
  readonly children: ComponentChildren;
}

/** A link that only ever posts `openLink`: the webview's own handling of links is kept out. */
export function Link({ link, children }: LinkProps) {
  const { openLink } = useContext(MarkdownContext);
  const isWeb = isWebLink(link);
  const open = (event: MouseEvent) => {
    event.preventDefault();
    event.stopPropagation(); // VS Code listens on the document and would open the address a second time
    openLink(link);
  };
  return (
    <a
      class={isWeb ? 'link' : 'link file-link'}
      href={isWeb ? link : '#'}
      title={link}
      data-link={link}
      onClick={open}
    >
      {children}
    </a>
  );
}
