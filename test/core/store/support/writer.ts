/**
 * A window of its own process that adds messages until it is killed. Arguments: folder, session id (empty: a chat of its own for
 * each message), name, how many. Prints each text after it is durable.
 */
import { ulid } from 'ulid';
import { insertMessage } from '../../../../src/core/store/messages.ts';
import { insertSession } from '../../../../src/core/store/sessions.ts';
import { Store } from '../../../../src/core/store/store.ts';
import { aMessage, aSession, wasmFile } from './values.ts';

async function main(): Promise<void> {
  const [folder = '', sessionId = '', name = '', count = '0'] = process.argv.slice(2);
  const store = await Store.open({ folder, wasm: wasmFile, checkpointWorkerFile: null, windowId: ulid() });
  for (let index = 0; index < Number(count); index++) {
    const session = sessionId === '' ? aSession() : null;
    const message = aMessage(session?.id ?? sessionId, { text: `${name} ${index}` });
    await store.write((writer) => {
      if (session !== null) insertSession(writer, session);
      insertMessage(writer, message);
    });
    process.stdout.write(`${message.text}\n`);
  }
  await store.close();
}

void main();
