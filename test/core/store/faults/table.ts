/** Every fault of the file system that the store is tried with. docs/faults.md is made of it. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { describeRescued } from '../../../../src/core/runtime/rescue.ts';
import { getDraft } from '../../../../src/core/store/drafts.ts';
import { StoreError } from '../../../../src/core/store/errors.ts';
import { loadEngine } from '../../../../src/core/store/openDatabase.ts';
import { mergeRecords } from '../../../../src/core/store/transfer/merge.ts';
import { withOtherFolder } from '../../../../src/core/store/transfer/otherFolder.ts';
import { readRecords } from '../../../../src/core/store/transfer/records.ts';
import { running } from '../../lifecycle/stage.ts';
import { World } from '../../lifecycle/world.ts';
import { makeFolder, openStore } from '../support/stores.ts';
import { wasmFile } from '../support/values.ts';
import { Stage } from './stage.ts';

export interface FaultRow {
  readonly fault: string;
  readonly happens: string;
  readonly comesBack: string;
  /** Makes the fault and shows what the row says; gives what the user is told, '' for nothing. */
  readonly run: (stage: Stage) => Promise<string>;
}

const nothing = '';
const resumesByItself = 'Writing, by itself, once the cause is gone';

/** Once, by the window that made the files again. */
function told({ healed }: Stage): string {
  assert.equal(healed.length, 1);
  return healed[0] ?? nothing;
}

function refusedWrite(fault: string, code: string): FaultRow {
  return {
    fault,
    happens: 'The change is refused and undone; reading goes on',
    comesBack: resumesByItself,
    run: async (stage) => {
      stage.faulty.fail('append', code);
      const told = await stage.refused();
      assert.deepEqual(stage.texts(), stage.acknowledged);
      await stage.resumes();
      return told;
    },
  };
}

/** `harm`: done to the file of the only large message. */
function unreadableBlob(fault: string, harm: (file: string) => void): FaultRow {
  return {
    fault,
    happens: 'That one message is unreadable; the chat and everything else is as it was',
    comesBack: 'The message, by restoring a backup or by Bring In Chats',
    run: async (stage) => {
      await stage.write('large '.repeat(100_000));
      const large = stage.acknowledged.pop() ?? '';
      await stage.store.close();
      harm(stage.file(/^[0-9A-Z]{26}$/, 'blobs'));
      await stage.open();
      assert.deepEqual(stage.texts(), [...stage.acknowledged, '']);
      const told = stage.unreadable();
      await stage.resumes();
      assert.ok(!stage.texts().includes(large));
      return told;
    },
  };
}

export const faultTable: readonly FaultRow[] = [
  refusedWrite('The disk is full', 'ENOSPC'),
  {
    fault: 'The disk becomes full in the middle of a write',
    happens: 'The change is refused and undone; the half that was written counts for nobody',
    comesBack: resumesByItself,
    run: async (stage) => {
      stage.faulty.cutNextAppend(60);
      const told = await stage.refused();
      assert.deepEqual(stage.texts(), stage.acknowledged);
      await stage.resumes();
      return told;
    },
  },
  {
    fault: 'The disk is full when a window is closed',
    happens:
      'The reserve is given up for the last words; what does not fit even then is written to a file elsewhere',
    comesBack: 'The words, in their chats, with the next start of a window',
    run: async (stage) => {
      const world = new World(stage.folder);
      const window = await world.start();
      const { id, runtime } = await running(window);
      world.isDiskFull = true;
      await runtime.stop();
      runtime.setDraft({ text: 'typed', caret: 5, scroll: null, editedAt: Date.now() });
      await window.registry.shutDown();
      await window.store.close();
      world.isDiskFull = false;
      const next = await world.start();
      assert.equal(next.store.read((reader) => getDraft(reader, id))?.draft.text, 'typed');
      assert.deepEqual(
        world.rescuePlaces.filter((place) => fs.existsSync(place)),
        [],
      );
      const sentences = describeRescued(next.rescued).map(({ text }) => text.replaceAll('"Go"', '"TITLE"'));
      assert.equal(sentences.length, 1);
      await world.end();
      await stage.resumes();
      return sentences[0] ?? nothing;
    },
  },
  refusedWrite('Writing fails (EIO)', 'EIO'),
  refusedWrite('Writing is forbidden under us (EACCES)', 'EACCES'),
  {
    fault: 'Syncing fails (EIO)',
    happens: 'Nothing is acknowledged: neither the journal nor a copy of the memory can be made durable',
    comesBack: resumesByItself,
    run: async (stage) => {
      stage.faulty.fail('sync', 'EIO');
      const told = await stage.refused();
      await stage.resumes();
      return told;
    },
  },
  {
    fault: 'The folder can only be read',
    happens: 'The chats open read-only',
    comesBack: 'Writing, with the next change after the permission was given',
    run: async (stage) => {
      await stage.store.close();
      stage.faulty.fail('openToWrite', 'EACCES');
      await stage.open();
      assert.equal(stage.store.isReadOnly, true);
      assert.deepEqual(stage.texts(), stage.acknowledged);
      const told = await stage.refused();
      stage.faulty.heal();
      await stage.resumes();
      assert.equal(stage.store.isReadOnly, false);
      return told;
    },
  },
  {
    fault: 'The folder is deleted under a window that can only read it',
    happens: 'The window goes on showing what it holds',
    comesBack: 'Everything, with the next change after the permission was given',
    run: async (stage) => {
      await stage.store.close();
      stage.faulty.fail('openToWrite', 'EACCES');
      await stage.open();
      fs.rmSync(stage.folder, { recursive: true });
      assert.deepEqual(stage.texts(), stage.acknowledged);
      const refused = await stage.refused();
      assert.deepEqual(stage.texts(), stage.acknowledged);
      await stage.resumes();
      return `${refused} Then: ${told(stage)}`;
    },
  },
  {
    fault: 'The folder is deleted under a window',
    happens: 'The window makes it again from memory with its next change',
    comesBack: 'Everything, at once',
    run: async (stage) => {
      fs.rmSync(stage.folder, { recursive: true });
      await stage.resumes();
      return told(stage);
    },
  },
  {
    fault: 'The journal is deleted under a window',
    happens: 'The window saves its memory as a new generation',
    comesBack: 'Everything, at once',
    run: async (stage) => {
      fs.rmSync(stage.file(/^journal-/));
      await stage.resumes();
      return told(stage);
    },
  },
  {
    fault: 'The clock is set a year back, then two years forward',
    happens: 'Nothing: changes are ordered by their numbers, and a chat never becomes older',
    comesBack: '–',
    run: async (stage) => {
      const before = stage.lastActivityAt();
      for (const years of [-1, 1]) {
        stage.clockError = years * 366 * 86_400_000;
        await stage.write(`in year ${years}`);
        await stage.keepsAll();
        assert.deepEqual(stage.texts(), stage.acknowledged);
        assert.ok(stage.lastActivityAt() >= before);
      }
      stage.clockError = 0;
      await stage.resumes();
      return nothing;
    },
  },
  {
    fault: 'The journal is cut short under a window',
    happens: 'The window saves its memory as a new generation',
    comesBack: 'Everything, at once',
    run: async (stage) => {
      fs.truncateSync(stage.file(/^journal-/), 100);
      await stage.resumes();
      return told(stage);
    },
  },
  {
    fault: 'The journal is cut short while no window is open',
    happens: 'What can be read goes into a new generation; the damaged file is kept',
    comesBack: 'All that was not cut off; the rest from a backup',
    run: async (stage) => {
      await stage.store.close();
      stage.change(/^journal-/, (bytes) => bytes.subarray(0, bytes.length - 300));
      await stage.open();
      const told = stage.toldLosses();
      await stage.resumes();
      return told;
    },
  },
  {
    fault: 'Garbage in the middle of the journal, no window open',
    happens: 'What can be read before and behind it goes into a new generation; the damaged file is kept',
    comesBack: 'All but the changes that were overwritten; those from a backup',
    run: async (stage) => {
      await stage.store.close();
      stage.change(/^journal-/, (bytes) =>
        bytes.fill(0xa5, bytes.indexOf('"two"'), bytes.indexOf('"two"') + 20),
      );
      await stage.open();
      const told = stage.toldLosses();
      assert.ok(stage.texts().includes('three'));
      await stage.resumes();
      return told;
    },
  },
  {
    fault: 'The newest snapshot is full of zeros',
    happens: 'The store opens from the journal before it',
    comesBack: 'Everything, at once',
    run: async (stage) => {
      await stage.store.checkpoint();
      await stage.write('behind the snapshot');
      await stage.store.close();
      stage.change(/^state-/, (bytes) => bytes.fill(0));
      await stage.open();
      assert.deepEqual(stage.texts(), stage.acknowledged);
      await stage.resumes();
      return nothing;
    },
  },
  {
    fault: 'A newer version of Holdfast changed the format',
    happens: 'Nothing is read or written with the wrong format',
    comesBack: 'Everything, with the newer version',
    run: async (stage) => {
      await stage.store.write((writer) =>
        writer.run(`UPDATE meta SET value = '999' WHERE key = 'min_reader'`),
      );
      await stage.store.checkpoint();
      await stage.store.close();
      const before = fs.readFileSync(stage.file(/^state-/));
      const told = await openStore({ folder: stage.folder }).then(
        () => assert.fail('it was opened'),
        (error: unknown) => (error instanceof StoreError ? error.message : String(error)),
      );
      assert.deepEqual(fs.readFileSync(stage.file(/^state-/)), before);
      return told;
    },
  },
  {
    fault: 'Half of the folder was copied: the snapshots are missing',
    happens: 'What the journals hold goes into a new generation; the copy is kept',
    comesBack: 'All that was copied; the rest by Bring In Chats from where it came',
    run: async (stage) => {
      await stage.store.checkpoint();
      await stage.write('behind the snapshot');
      await stage.store.checkpoint();
      await stage.write('behind the next');
      await stage.store.close();
      for (const name of fs.readdirSync(stage.folder)) {
        if (/^(state-|journal-[12]\.)/.test(name)) fs.rmSync(path.join(stage.folder, name));
      }
      await stage.open();
      const told = stage.toldLosses();
      await stage.resumes();
      return told;
    },
  },
  unreadableBlob('The file of a large message is missing', (file) => fs.rmSync(file)),
  unreadableBlob('The file of a large message is damaged', (file) =>
    fs.writeFileSync(file, fs.readFileSync(file).fill(0, 60, 80)),
  ),
  {
    fault: 'The chats of another profile are in another folder',
    happens: 'Each profile shows its own',
    comesBack: 'Both, by Bring In Chats, which overwrites nothing',
    run: async (stage) => {
      const other = await Stage.make(makeFolder());
      await other.write('of the other profile');
      const engine = await loadEngine(fs.readFileSync(wasmFile));
      const report = await withOtherFolder(other.folder, engine, (reader) =>
        mergeRecords(stage.store, () => readRecords(reader, (what) => assert.fail(what))),
      );
      assert.deepEqual([report.chats, report.messages], [1, 4]);
      await stage.resumes();
      return nothing;
    },
  },
];
