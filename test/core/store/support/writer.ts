/**
 * A window of its own process that adds messages until it is killed. Arguments: folder, session id, name, how many. Prints each
 * text after it is durable.
 */
import { ulid } from 'ulid';
import { insertMessage } from '../../../../src/core/store/messages.ts';
import { Store } from '../../../../src/core/store/store.ts';
import { aMessage, wasmFile } from './values.ts';

async function main(): Promise<void> {
  const [folder = '', sessionId = '', name = '', count = '0'] = process.argv.slice(2);
  const store = await Store.open({ folder, wasm: wasmFile, checkpointWorkerFile: null, windowId: ulid() });
  for (let index = 0; index < Number(count); index++) {
    const message = aMessage(sessionId, { text: `${name} ${index}` });
    await store.write((writer) => insertMessage(writer, message));
    process.stdout.write(`${message.text}\n`);
  }
  await store.close();
}

void main();
