/**
 * Makes `test/fixtures/store-v<version>`, a store as this version writes it: a snapshot, and a journal behind it. Run once for
 * each version of the schema, when it is released:
 *
 *     node --import=tsx test/core/store/support/makeFixture.ts
 *
 * One that is there stays: what a released version wrote is what later ones must read.
 */
import * as fs from 'node:fs';
import { runCheckpoint } from '../../../../src/core/store/checkpoint.ts';
import { saveDraft } from '../../../../src/core/store/drafts.ts';
import { nodeFiles } from '../../../../src/core/store/fileLayer.ts';
import { inFolder, windowsFolderName } from '../../../../src/core/store/folder.ts';
import { insertMessage, supersedeMessages } from '../../../../src/core/store/messages.ts';
import { schemaVersion } from '../../../../src/core/store/migrations.ts';
import { loadEngine } from '../../../../src/core/store/openDatabase.ts';
import { makeRoute, saveRoute } from '../../../../src/core/store/routes.ts';
import { endSession, insertSession } from '../../../../src/core/store/sessions.ts';
import { Store } from '../../../../src/core/store/store.ts';
import { fixtureFolder } from './fixtures.ts';
import { aMessage, aSession, wasmFile } from './values.ts';

/** Ids that sort as they are numbered. */
function id(number: number): string {
  return `01JD0000000000000000000${String(number).padStart(3, '0')}`;
}

const open = aSession({ id: id(1), title: 'An open chat', titleSource: 'user' });
const archived = aSession({ id: id(2), title: 'An archived chat' });

async function make(folder: string): Promise<void> {
  const engine = await loadEngine(fs.readFileSync(wasmFile));
  const store = await Store.open({
    folder,
    wasm: wasmFile,
    checkpointWorkerFile: null,
    windowId: id(9),
    followInterval: 0,
    runCheckpoint: async (job, isWindowAlive) =>
      runCheckpoint({ files: nodeFiles, engine, now: Date.now(), isWindowAlive }, job),
  });
  const calls = [{ id: 'call', name: 'readFile', arguments: '{"path":"a.txt"}' }];
  await store.write((writer) => {
    insertSession(writer, open);
    insertSession(writer, archived);
    insertMessage(writer, aMessage(open.id, { id: id(11), text: 'In the snapshot, 漢字 and 😀' }));
    insertMessage(writer, aMessage(open.id, { id: id(12), role: 'assistant', text: 'First answer' }));
    insertMessage(writer, aMessage(archived.id, { id: id(21), text: 'Long ago' }));
    saveRoute(writer, makeRoute({ key: 'panel:one', sessionId: open.id, updatedAt: 3_000 }));
  });
  await store.checkpoint();
  await store.write((writer) => {
    supersedeMessages(writer, [id(12)]);
    insertMessage(writer, aMessage(open.id, { id: id(13), role: 'assistant', text: 'x', toolCalls: calls }));
    insertMessage(writer, aMessage(open.id, { id: id(14), role: 'tool', text: 'y', toolCallId: 'call' }));
    endSession(writer, archived.id, 'archived', 4_000);
    saveDraft(writer, {
      key: open.id,
      sessionId: open.id,
      draft: { text: 'A draft', caret: 7, scroll: null, editedAt: 5_000 },
    });
  });
  await store.close();
  fs.rmSync(inFolder(folder, windowsFolderName), { recursive: true, force: true });
}

const target = fixtureFolder(schemaVersion);
if (fs.existsSync(target)) console.error(`${target} is there already.`);
else void make(target);
