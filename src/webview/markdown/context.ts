/** What rendered Markdown can ask for; handed down by context because links and code sit deep inside. */
import { createContext } from 'preact';

export interface MarkdownActions {
  readonly openLink: (href: string) => void;
  readonly copy: (text: string) => void;
}

export const MarkdownContext = createContext<MarkdownActions>({
  openLink: () => undefined,
  copy: () => undefined,
});
