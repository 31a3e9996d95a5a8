/** What the host wrote into the page itself: which panel it is, and the chat that the panel was made with. */
export interface PageConfig {
  readonly panelId: string;
  /** Empty for a panel that has to ask which chat it showed. */
  readonly sessionId: string;
}

export function readPageConfig(element: HTMLElement): PageConfig {
  const { panelId = '', sessionId = '' } = element.dataset;
  return { panelId, sessionId };
}
