/** Something that shows a runtime: a panel's page, or a test. It gets a snapshot when it attaches, then numbered events. */
import type { HostMessage } from '../protocol/hostMessages.ts';

export interface Viewer {
  receive(message: HostMessage): void;
}
