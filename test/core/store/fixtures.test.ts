import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { getDraft } from '../../../src/core/store/drafts.ts';
import { listMessages } from '../../../src/core/store/messages.ts';
import { schemaVersion } from '../../../src/core/store/migrations.ts';
import { listRoutes } from '../../../src/core/store/routes.ts';
import { listSessions } from '../../../src/core/store/sessions.ts';
import { verifyFolder } from '../../../src/core/store/verify/verifyFolder.ts';
import { fixtureFolder } from './support/fixtures.ts';
import { addText, makeFolder, openStore, textsOf } from './support/stores.ts';
import { wasmFile } from './support/values.ts';

describe('a store of an earlier version', () => {
  for (let version = 1; version <= schemaVersion; version++) {
    it(`(${version}) is opened, listed and appended to`, async () => {
      const folder = makeFolder();
      fs.cpSync(fixtureFolder(version), folder, { recursive: true });
      assert.deepEqual((await verifyFolder(folder, wasmFile)).faults, []);

      const store = await openStore({ folder });
      const [open, ...others] = store.read((reader) => listSessions(reader, { archived: false, limit: 9 }));
      assert.ok(open !== undefined && others.length === 0);
      assert.deepEqual({ title: open.title, count: open.messageCount }, { title: 'An open chat', count: 4 });
      const [archived] = store.read((reader) => listSessions(reader, { archived: true, limit: 9 }));
      assert.deepEqual([archived?.title, archived?.endReason], ['An archived chat', 'archived']);

      const messages = store.read((reader) => listMessages(reader, open.id));
      assert.deepEqual(
        messages.map(({ role, text, active }) => [role, text, active]),
        [
          ['user', 'In the snapshot, 漢字 and 😀', true],
          ['assistant', 'First answer', false],
          ['assistant', 'x', true],
          ['tool', 'y', true],
        ],
      );
      assert.equal(messages[2]?.toolCalls[0]?.name, 'readFile');
      assert.equal(messages[3]?.toolCallId, 'call');
      assert.equal(store.read((reader) => getDraft(reader, open.id))?.draft.text, 'A draft');
      assert.deepEqual(
        store.read((reader) => listRoutes(reader)).map(({ key, sessionId }) => [key, sessionId]),
        [['panel:one', open.id]],
      );

      const before = textsOf(store, open.id);
      await store.write(addText(open.id, 'written by this version'));
      await store.close();
      const again = await openStore({ folder });
      assert.deepEqual(textsOf(again, open.id), [...before, 'written by this version']);
      assert.deepEqual((await verifyFolder(folder, wasmFile)).faults, []);
    });
  }
});
