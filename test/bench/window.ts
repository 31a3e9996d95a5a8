/** A window of the product without an editor: its store, its runtimes, and one chat, as a panel's page is told of it. */
import type { ChatModel } from '../../src/core/models/chatModel.ts';
import type { HostMessage } from '../../src/core/protocol/hostMessages.ts';
import type { ChatRuntime } from '../../src/core/runtime/chatRuntime.ts';
import { openRegistry } from '../support/runtimes.ts';
import { openStore } from './stores.ts';

/** The chat of `sessionId`, shown; `receive` gets what a page would. */
export async function showChat(
  { folder, worker, sessionId }: { folder: string; worker: string; sessionId: string },
  model: ChatModel,
  receive: (message: HostMessage) => void,
): Promise<ChatRuntime> {
  const store = await openStore(folder, worker);
  const registry = openRegistry(store, model);
  const place = { workspaceUri: null, workspaceName: null, modelId: null };
  const runtime = await registry.openOrCreate({ id: sessionId, ...place });
  registry.attach(runtime, { isPanel: true, receive, isVisible: () => true, reclaimed: () => undefined });
  return runtime;
}

/** Milliseconds of a clock that all processes of the machine share and nobody sets. */
export function sharedTime(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}
