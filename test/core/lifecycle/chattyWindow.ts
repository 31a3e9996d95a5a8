/**
 * A window of its own process that chats until it is killed. Arguments: folder, wasm file, name, chat ids. Prints, one JSON
 * line each: what was acknowledged (`sent`, `answered`), and what was shown of an answer (`said`), with its own monotonic time.
 */
import { ulid } from 'ulid';
import type { ChatModel, ModelEvent } from '../../../src/core/models/chatModel.ts';
import type { HostMessage } from '../../../src/core/protocol/hostMessages.ts';
import { describeStoreProblem } from '../../../src/core/runtime/problems.ts';
import { startWindow } from '../../../src/core/runtime/startWindow.ts';
import type { RuntimeRegistry } from '../../../src/core/runtime/registry.ts';
import { Store } from '../../../src/core/store/store.ts';
import { openRegistry, openRescue } from '../../support/runtimes.ts';

const chunkEveryMs = 4;
const mostChunks = 150;
const log = (line: string) => void process.stderr.write(`${line}\n`);

function print(line: { kind: 'sent' | 'said' | 'answered'; chat: string; text: string }): void {
  process.stdout.write(`${JSON.stringify({ ...line, at: performance.now() })}\n`);
}

const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, chunkEveryMs));

/** Speaks a few words at a time, in its own time. */
function model(name: string): ChatModel {
  return {
    id: name,
    name,
    async *stream(request, signal): AsyncIterable<ModelEvent> {
      const chunks = 1 + Math.floor(Math.random() * mostChunks);
      const last = request.messages.at(-1)?.text ?? '';
      yield { type: 'text', text: `To ${last}:` };
      for (let chunk = 0; chunk < chunks && !signal.aborted; chunk++) {
        await rest();
        yield { type: 'text', text: ` word ${chunk}` };
      }
      yield { type: 'finish', usage: null };
    },
  };
}

async function main(): Promise<void> {
  const [folder = '', wasm = '', name = '', ...chats] = process.argv.slice(2);
  const store = await Store.open({ folder, wasm, checkpointWorkerFile: null, windowId: ulid() });
  await startWindow({ store, rescue: openRescue(folder), now: Date.now, log });
  const registry = openRegistry(store, model(name));
  for (let turn = 0; ; turn++) {
    const chat = chats[Math.floor(Math.random() * chats.length)] ?? '';
    await talk(registry, chat, `${name} ${turn}`);
    await rest();
  }
}

/** One turn in a panel that is closed afterwards, so that other windows get their turn. */
async function talk(registry: RuntimeRegistry, chat: string, text: string): Promise<void> {
  const place = { workspaceUri: null, workspaceName: null, modelId: null };
  const runtime = await registry.openOrCreate({ id: chat, ...place });
  let said = '';
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const viewer = {
    isPanel: true,
    isVisible: () => true,
    reclaimed: () => undefined,
    receive: (message: HostMessage) => {
      if (message.type !== 'event') return;
      if (message.event.type === 'turnEnded') end();
      if (message.event.type !== 'textAppended') return;
      if (!message.event.text.startsWith('To ') && said === '') return; // somebody else's answer
      said += message.event.text;
      print({ kind: 'said', chat, text: said });
    },
  };
  registry.attach(runtime, viewer);
  try {
    await runtime.send(ulid(), text);
    print({ kind: 'sent', chat, text });
    if (runtime.isRunning) await ended;
    await runtime.flush();
    const last = runtime.state.messages.at(-1);
    if (last?.status === 'complete' && !runtime.hasUnwritten)
      print({ kind: 'answered', chat, text: last.text });
  } catch (error) {
    // Another window writes the chat: this one tries another.
    if (describeStoreProblem(error).reason === 'unknown') throw error;
  } finally {
    await registry.detach(runtime, viewer, 'disposed');
  }
}

main().catch((error: unknown) => {
  log(`failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  process.exitCode = 1;
});
