/** The one place that talks to VS Code: everything typed on this side, everything parsed that comes in. */
import * as v from 'valibot';
import { hostMessageSchema, type HostMessage } from '../core/protocol/hostMessages.ts';
import { pageStateSchema, type PageMessage, type PageState } from '../core/protocol/pageMessages.ts';

interface VsCodeApi {
  postMessage(message: PageMessage): void;
  getState(): unknown;
  setState(state: PageState): void;
}

declare global {
  /** VS Code defines it in every webview; it may be called once. */
  function acquireVsCodeApi(): VsCodeApi;
}

export interface Host {
  post(message: PageMessage): void;
  /** What this page kept before a reload; null if nothing, or nothing that can be read. */
  readState(): PageState | null;
  writeState(state: PageState): void;
  listen(receive: (message: HostMessage) => void): void;
}

export function connectToHost(): Host {
  const api = acquireVsCodeApi();
  return {
    post: (message) => api.postMessage(message),
    readState: () => {
      const parsed = v.safeParse(pageStateSchema, api.getState());
      return parsed.success ? parsed.output : null;
    },
    writeState: (state) => api.setState(state),
    listen: (receive) => {
      window.addEventListener('message', (event: MessageEvent<unknown>) => {
        const parsed = v.safeParse(hostMessageSchema, event.data);
        if (parsed.success) receive(parsed.output);
        // Said in the console only: a missed event shows as a gap, and a gap asks for a snapshot.
        else console.error('Holdfast: a message from the host was not understood', v.flatten(parsed.issues));
      });
    },
  };
}
