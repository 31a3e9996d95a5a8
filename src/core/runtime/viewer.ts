/** Something that shows a runtime: a panel's page, a terminal, or a test. It gets a snapshot when it attaches, then numbered events. */
import type { HostMessage } from '../protocol/hostMessages.ts';

export interface Viewer {
  receive(message: HostMessage): void;
  /** Whether it makes the chat a panel's, whose row cleanup never ends. */
  readonly isPanel: boolean;
  /** Whether the user sees it now: then its runtime is not idle. */
  isVisible(): boolean;
  /** Its runtime was given back, or replaced after archiving: attach again when there is something to show. */
  reclaimed(): void;
}
