/**
 * A window that writes until it is killed. Arguments: folder, wasm file, checkpoint worker file, name, bytes of journal per
 * generation. Prints `<name> <number>` after each text is durable; several writes are in flight at once.
 */
import { ulid } from 'ulid';
import { makeMessage } from '../../../src/core/session/model.ts';
import { insertMessage } from '../../../src/core/store/messages.ts';
import { Store } from '../../../src/core/store/store.ts';

const inFlight = 3;

async function main(): Promise<void> {
  const [folder = '', wasm = '', worker = '', name = '', limit = '0'] = process.argv.slice(2);
  const store = await Store.open({
    folder,
    wasm,
    checkpointWorkerFile: worker,
    windowId: ulid(),
    journalLimit: Number(limit),
    log: (line) => process.stderr.write(`${name}: ${line}\n`),
  });
  let number = 0;
  const lane = async (): Promise<void> => {
    for (;;) {
      // Now and then one that is kept in a blob.
      const line = `${name} ${number}`;
      const text = `${line} ${number % 50 === 0 ? 'x'.repeat(300_000) : ''}`;
      number += 1;
      const message = makeMessage({
        id: ulid(),
        sessionId: 'torture',
        seq: 0,
        role: 'user',
        createdAt: 1,
        text,
      });
      await store.write((writer) => insertMessage(writer, message));
      process.stdout.write(`${line}\n`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}

main().catch((error: unknown) => {
  process.stderr.write(`failed: ${String(error)}\n`);
  process.exitCode = 1;
});
