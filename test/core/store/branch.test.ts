/** Branches: what they copy, what a model is given of them, what they are called, and where chats part. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { ulid } from 'ulid';
import type { Message } from '../../../src/core/session/model.ts';
import { branchSession, type Cut } from '../../../src/core/store/branch.ts';
import { runCheckpoint } from '../../../src/core/store/checkpoint.ts';
import { deleteLineage } from '../../../src/core/store/deletion.ts';
import { nodeFiles } from '../../../src/core/store/fileLayer.ts';
import { forksOf } from '../../../src/core/store/forks.ts';
import { archiveLineage, renameLineage } from '../../../src/core/store/lineageChanges.ts';
import { insertMessage, supersedeMessages } from '../../../src/core/store/messages.ts';
import { getSession, insertSession, listChats } from '../../../src/core/store/sessions.ts';
import { loadEngine } from '../../../src/core/store/openDatabase.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { displayMessages, modelMessages } from '../../../src/core/store/transcript.ts';
import { checkRows } from '../../../src/core/store/verify/checkRows.ts';
import { openStore } from './support/stores.ts';
import { aMessage, aSession, wasmFile } from './support/values.ts';

const calls = [{ id: 'call', name: 'readFile', arguments: '{}' }];

/** Adds messages named by their ids; each has its id as its text. */
async function add(store: Store, sessionId: string, rows: readonly (Partial<Message> & { id: string })[]) {
  await store.write((writer) => {
    if (getSession(writer, sessionId) === null) insertSession(writer, aSession({ id: sessionId }));
    for (const row of rows) insertMessage(writer, aMessage(sessionId, { text: row.id, ...row }));
  });
}

/** A prompt and an answer, `p1` and `a1`, for each number. */
function turns(...numbers: number[]): (Partial<Message> & { id: string })[] {
  return numbers.flatMap((number) => [
    { id: `p${number}` },
    { id: `a${number}`, role: 'assistant' as const },
  ]);
}

async function branch(
  store: Store,
  sessionId: string,
  messageId: string,
  cut: Cut,
  id = ulid(),
  now = 5_000,
): Promise<string> {
  const branching = { sessionId, messageId, cut, id, newId: ulid, now };
  return (await store.write((writer) => branchSession(writer, branching))).id;
}

const remove = (store: Store, sessionId: string) =>
  store.write((writer) => deleteLineage(writer, { sessionId, isOtherAlive: () => false }));

const shown = (store: Store, id: string): string[] =>
  store.read((reader) => displayMessages(reader, id)).messages.map(({ text }) => text);
const sent = (store: Store, id: string): string[] =>
  store.read((reader) => modelMessages(reader, id)).map(({ text }) => text);
const forks = (store: Store, id: string) => store.read((reader) => forksOf(reader, id));
const faults = (store: Store) => store.read((reader) => checkRows(reader)).faults;

describe('A branch', function () {
  this.timeout(30_000);

  it('begins with everything up to the message, and the chat it comes from stays as it was', async () => {
    const store = await openStore();
    await add(store, 'chat', turns(1, 2, 3));
    const before = store.read((reader) => [getSession(reader, 'chat'), displayMessages(reader, 'chat')]);
    const through = await branch(store, 'chat', 'a2', 'through');
    const edited = await branch(store, 'chat', 'p2', 'before');
    const empty = await branch(store, 'chat', 'p1', 'before');
    assert.deepEqual(
      [shown(store, through), shown(store, edited), shown(store, empty)],
      [['p1', 'a1', 'p2', 'a2'], ['p1', 'a1'], []],
    );
    assert.deepEqual(sent(store, through), ['p1', 'a1', 'p2', 'a2']);
    const rows = store.read((reader) => displayMessages(reader, through)).messages;
    assert.deepEqual(
      rows.map(({ seq, copyOf, sessionId }) => [seq, copyOf, sessionId]),
      ['p1', 'a1', 'p2', 'a2'].map((id, index) => [index + 1, id, through]),
    );
    assert.deepEqual(
      store.read((reader) => [getSession(reader, 'chat'), displayMessages(reader, 'chat')]),
      before,
    );
    assert.deepEqual(faults(store), []);
  });

  it('is an open chat of its own, titled after the other and unlike its other branches; model and workspace go along, not the pin', async () => {
    const store = await openStore();
    const chat = { title: 'Bicycles', titleSource: 'user', modelId: 'm', workspaceUri: 'w' } as const;
    await store.write((writer) => {
      insertSession(writer, aSession({ id: 'chat', ...chat, pinned: true, inputTokens: 9 }));
    });
    await add(store, 'chat', turns(1, 2));
    await store.write((writer) => archiveLineage(writer, 'chat', 77));
    const first = await branch(store, 'chat', 'a1', 'through');
    const second = await branch(store, 'chat', 'a1', 'through');
    const third = await branch(store, first, `${first}:2`, 'through');
    const facts = [first, second, third].map((id) => {
      const session = store.read((reader) => getSession(reader, id));
      assert.ok(session !== null);
      const { title, titleSource, modelId, workspaceUri, pinned, inputTokens, endReason } = session;
      assert.deepEqual(
        { titleSource, modelId, workspaceUri, pinned, inputTokens, endReason },
        {
          titleSource: 'auto',
          modelId: 'm',
          workspaceUri: 'w',
          pinned: false,
          inputTokens: 0,
          endReason: null,
        },
      );
      return [
        title,
        session.parentId,
        session.edge,
        session.branchedAfter,
        session.messageCount,
        session.preview,
      ];
    });
    assert.deepEqual(facts, [
      ['Bicycles (branch)', 'chat', 'branch', 2, 2, 'p1'],
      ['Bicycles (branch 2)', 'chat', 'branch', 2, 2, 'p1'],
      ['Bicycles (branch 3)', first, 'branch', 2, 2, 'p1'],
    ]);
    const listed = store.read((reader) => listChats(reader, { archived: false, limit: 9 }));
    assert.deepEqual(listed.map(({ session }) => session.id).sort(), [first, second, third].sort());
  });

  it('of a chat without a title is titled after its first words', async () => {
    const store = await openStore();
    await add(store, 'chat', turns(1));
    const id = await branch(store, 'chat', 'a1', 'through');
    assert.equal(store.read((reader) => getSession(reader, id))?.title, 'p1 (branch)');
  });

  it('is titled anew, not after the number of the branch it comes from; what only looks like one stays', async () => {
    const store = await openStore();
    const titles = {
      'Tale (branch)': 'Tale (branch 2)',
      'Tale (branch 12)': 'Tale (branch)',
      'The (branch) tale': 'The (branch) tale (branch)',
    };
    for (const [title, wanted] of Object.entries(titles)) {
      const chat = aSession({ title, titleSource: 'user' });
      await store.write((writer) => insertSession(writer, chat));
      await add(store, chat.id, [{ id: ulid() }]);
      const [row] = store.read((reader) => displayMessages(reader, chat.id)).messages;
      const id = await branch(store, chat.id, row?.id ?? '', 'through');
      assert.equal(store.read((reader) => getSession(reader, id))?.title, wanted);
    }
  });

  it('has what the tools gave with the message that asked for them, and nothing behind', async () => {
    const store = await openStore();
    const tool = { role: 'tool', toolCallId: 'call' } as const;
    const answer = { role: 'assistant', toolCalls: calls } as const;
    await add(store, 'chat', [{ id: 'p1' }, { id: 'a1', ...answer }, { id: 't1', ...tool }]);
    assert.deepEqual(shown(store, await branch(store, 'chat', 'a1', 'through')), ['p1', 'a1', 't1']);
    await add(store, 'chat', [{ id: 'a2', role: 'assistant' }, { id: 'p2' }]);
    assert.deepEqual(shown(store, await branch(store, 'chat', 'a1', 'through')), ['p1', 'a1', 't1']);
    assert.deepEqual(shown(store, await branch(store, 'chat', 'p1', 'through')), ['p1']);
  });

  it('of an answer that streams has its text so far, as interrupted, and streams nothing itself', async () => {
    const store = await openStore();
    await add(store, 'chat', [{ id: 'p1' }, { id: 'a1', role: 'assistant', status: 'streaming' }]);
    const id = await branch(store, 'chat', 'a1', 'through');
    const [, answer] = store.read((reader) => displayMessages(reader, id)).messages;
    assert.deepEqual([answer?.status, answer?.text, answer?.finishedAt], ['interrupted', 'a1', 5_000]);
    const [, original] = store.read((reader) => displayMessages(reader, 'chat')).messages;
    assert.deepEqual([original?.status, original?.finishedAt], ['streaming', null]);
  });

  it('of an answer that a retry replaced goes on with that answer and the rows that led to it', async () => {
    const store = await openStore();
    const asking = { role: 'assistant', toolCalls: calls } as const;
    await add(store, 'chat', [
      { id: 'p1' },
      { id: 'a1', role: 'assistant' },
      { id: 'a2', ...asking },
      { id: 't2', role: 'tool', toolCallId: 'call' },
      { id: 'a3', role: 'assistant' },
      { id: 'a4', role: 'assistant' },
    ]);
    await store.write((writer) => supersedeMessages(writer, ['a1', 'a2', 't2', 'a3']));
    const id = await branch(store, 'chat', 'a3', 'through');
    assert.deepEqual(
      [shown(store, id), sent(store, id)],
      [
        ['p1', 'a1', 'a2', 't2', 'a3'],
        ['p1', 'a2', 't2', 'a3'],
      ],
    );
    assert.deepEqual(sent(store, await branch(store, 'chat', 'a4', 'through')), ['p1', 'a4']);
  });

  /** 1 and 2, compacted: 2 carried over; 3; compacted: 3 carried over; 4. */
  async function addCompacted(store: Store): Promise<void> {
    const ended = { endedAt: 5, endReason: 'compaction' } as const;
    const summary = { role: 'summary', text: 'summary' } as const;
    await store.write((writer) => {
      insertSession(writer, aSession({ id: 'a', ...ended }));
      insertSession(writer, aSession({ id: 'b', parentId: 'a', edge: 'compaction', ...ended }));
      insertSession(writer, aSession({ id: 'c', parentId: 'b', edge: 'compaction', modelId: 'm' }));
    });
    await add(store, 'a', turns(1, 2));
    await add(store, 'b', [
      { id: 's1', ...summary },
      { id: 'b1', copyOf: 'p2', text: 'p2' },
      { id: 'b2', copyOf: 'a2', text: 'a2', role: 'assistant' },
      ...turns(3),
    ]);
    await add(store, 'c', [
      { id: 's2', ...summary },
      { id: 'c1', copyOf: 'p3', text: 'p3' },
      { id: 'c2', copyOf: 'a3', text: 'a3', role: 'assistant' },
      ...turns(4),
    ]);
  }

  it('behind a compaction shows all of it, and gives a model what the chat gave it there', async () => {
    const store = await openStore();
    await addCompacted(store);
    const whole = ['p1', 'a1', 'p2', 'a2', 'summary', 'p3', 'a3', 'summary', 'p4', 'a4'];
    const cases: [message: string, cut: Cut, shown: string[], sent: string[]][] = [
      ['a4', 'through', whole, ['summary', 'p3', 'a3', 'p4', 'a4']],
      ['p4', 'before', whole.slice(0, 8), ['summary', 'p3', 'a3']],
      ['p3', 'through', whole.slice(0, 6), ['summary', 'p2', 'a2', 'p3']],
      ['a2', 'through', whole.slice(0, 4), whole.slice(0, 4)],
    ];
    for (const [message, cut, wantedShown, wantedSent] of cases) {
      const id = await branch(store, 'a', message, cut);
      assert.deepEqual([shown(store, id), sent(store, id)], [wantedShown, wantedSent], `${message} ${cut}`);
      const listed = store.read((reader) => listChats(reader, { archived: false, limit: 9 }));
      const row = listed.find(({ session }) => session.id === id)?.session;
      assert.deepEqual([row?.messageCount, row?.preview, row?.modelId], [wantedShown.length, 'p1', 'm']);
      // Its place is told by its first row, not by the one in which it goes on.
      assert.equal(row?.branchedAfter, row?.edge === 'branch' ? wantedShown.length : null);
    }
    assert.deepEqual(shown(store, 'a'), whole);
    assert.deepEqual(faults(store), []);
  });

  it('behind a compaction goes on like any chat: a retry folds what is shown, a branch of it has all of it', async () => {
    const store = await openStore();
    await addCompacted(store);
    const id = await branch(store, 'c', 'a4', 'through');
    await store.write((writer) => supersedeMessages(writer, [`${id}:5`]));
    assert.deepEqual(sent(store, id), ['summary', 'p3', 'a3', 'p4']);
    const folded = store
      .read((reader) => displayMessages(reader, id))
      .messages.filter(({ active }) => !active);
    assert.deepEqual(
      folded.map(({ text }) => text),
      ['a4'],
    );
    await add(store, id, turns(5));
    const again = await branch(store, id, 'p5', 'through');
    assert.deepEqual(shown(store, again), [...shown(store, 'a'), 'p5']);
    assert.deepEqual(sent(store, again), ['summary', 'p3', 'a3', 'p4', 'p5']);
    assert.deepEqual(faults(store), []);
  });

  it('is refused at a message that the chat does not show', async () => {
    const store = await openStore();
    await addCompacted(store);
    await add(store, 'other', turns(9));
    for (const message of ['none', 'a9', 'c1']) {
      await assert.rejects(branch(store, 'a', message, 'through'), { reason: 'unknown_message' });
    }
    await assert.rejects(branch(store, 'none', 'p1', 'through'), { reason: 'unknown_session' });
  });

  it('stays, with all it shows, when the chat it comes from is deleted', async () => {
    const store = await openStore();
    await addCompacted(store);
    const id = await branch(store, 'a', 'a4', 'through');
    const before = [shown(store, id), sent(store, id)];
    await remove(store, 'a');
    assert.deepEqual([shown(store, id), sent(store, id)], before);
    assert.deepEqual([forks(store, id), faults(store)], [[], []]);
  });

  it('stays related to the other branches of a chat that is deleted, wherever they part', async () => {
    const store = await openStore();
    await add(store, 'chat', turns(1, 2, 3));
    const first = await branch(store, 'chat', 'p1', 'before', 'first');
    const short = await branch(store, 'chat', 'a1', 'through', 'short');
    const long = await branch(store, 'chat', 'a2', 'through', 'long');
    const twin = await branch(store, 'chat', 'a2', 'through', 'twin');
    await add(store, short, [{ id: 'other', role: 'user' }]);
    await remove(store, 'chat');
    const ways = { start: [long, first], middle: [long, short], end: [long, twin] };
    const at = (after: number, chats: string[], current: number) => ({ after, chats, current });
    assert.deepEqual(forks(store, first), [at(0, ways.start, 1)]);
    assert.deepEqual(forks(store, short), [at(0, ways.start, 0), at(2, ways.middle, 1)]);
    assert.deepEqual(forks(store, twin), [at(0, ways.start, 0), at(2, ways.middle, 0), at(4, ways.end, 1)]);

    // One that is a branch itself: what parts before it goes to its parent, what parts behind it stays together.
    await add(store, twin, turns(4, 5));
    const before = await branch(store, twin, `${twin}:2`, 'through', 'before');
    const behind = await branch(store, twin, 'a5', 'through', 'behind');
    const beside = await branch(store, twin, 'a4', 'through', 'beside');
    await remove(store, twin);
    assert.deepEqual(forks(store, beside), [
      at(0, ways.start, 0),
      at(2, [long, before, short], 0),
      at(4, [long, behind], 1),
      at(6, [behind, beside], 1),
    ]);
    assert.deepEqual(shown(store, beside), ['p1', 'a1', 'p2', 'a2', 'p4', 'a4']);
    assert.deepEqual(faults(store), []);
    await remove(store, long);
    await remove(store, behind);
    assert.deepEqual(forks(store, beside), [at(0, [beside, first], 0), at(2, [beside, before, short], 0)]);
  });

  it('takes the place of the chat that is deleted: the one that shares most with it, of those the oldest', async () => {
    const store = await openStore();
    await add(store, 'chat', turns(1, 2));
    await branch(store, 'chat', 'a2', 'through', 'later', 2_000);
    await branch(store, 'chat', 'a2', 'through', 'sooner', 1_000);
    await branch(store, 'chat', 'a1', 'through', 'first', 500);
    await remove(store, 'chat');
    const places = store
      .read((reader) => ['sooner', 'later', 'first'].map((id) => getSession(reader, id)))
      .map((session) => [session?.parentId, session?.edge, session?.branchedAfter]);
    assert.deepEqual(places, [
      [null, null, null],
      ['sooner', 'branch', 4],
      ['sooner', 'branch', 2],
    ]);
  });

  it('stays related also to what lies before the branch that is deleted, be that here or not', async () => {
    for (const isBroughtIn of [false, true]) {
      const store = await openStore();
      await add(store, 'chat', turns(1, 2));
      await branch(store, 'chat', 'a2', 'through', 'between');
      await add(store, 'between', turns(3));
      await branch(store, 'between', 'between:1', 'through', 'one');
      await branch(store, 'between', 'between:2', 'through', 'two');
      // As in a store into which the branches were brought without the chat that they come from.
      if (isBroughtIn) await store.write((writer) => writer.run(`DELETE FROM sessions WHERE id = 'chat'`));
      await remove(store, 'between');
      const [first, then] = isBroughtIn
        ? ['two', []]
        : ['chat', [{ after: 2, chats: ['chat', 'two'], current: 1 }]];
      assert.deepEqual(forks(store, 'one'), [{ after: 1, chats: [first, 'one'], current: 1 }]);
      assert.deepEqual(forks(store, 'two'), [{ after: 1, chats: [first, 'one'], current: 0 }, ...then]);
    }
  });

  it('shares the large contents that are in blobs, and keeps them when the chat it comes from is deleted', async () => {
    const engine = await loadEngine(fs.readFileSync(wasmFile));
    const store = await openStore({
      runCheckpoint: async (job, isWindowAlive) =>
        runCheckpoint({ files: nodeFiles, engine, now: Date.now(), isWindowAlive }, job),
    });
    const text = 'words '.repeat(1000);
    const large = { toolCalls: [{ id: 'call', name: 'readFile', arguments: `{"path":"${text}"}` }] };
    await add(store, 'chat', [
      { id: 'p1', text },
      { id: 'a1', role: 'assistant', ...large },
      { id: 't1', role: 'tool', toolCallId: 'call', text },
      { id: 'a2', role: 'assistant' },
      { id: 'a3', role: 'assistant' },
    ]);
    await store.write((writer) => supersedeMessages(writer, ['a1', 't1', 'a2']));
    assert.equal(await store.tidy(), 3);
    const blobs = (): number => fs.readdirSync(path.join(store.folder, 'blobs')).length;
    const before = blobs();
    const id = await branch(store, 'chat', 'a2', 'through');
    assert.equal(blobs(), before);
    const read = (): unknown => [shown(store, id), sent(store, id)];
    const wanted = [text, 'a1', text, 'a2'];
    assert.deepEqual(read(), [wanted, wanted]);
    await remove(store, 'chat');
    for (let round = 0; round < 3; round++) {
      await store.checkpoint();
      await store.write((writer) => writer.run('UPDATE sessions SET pinned = pinned'));
    }
    assert.deepEqual([read(), blobs()], [[wanted, wanted], before]);
    assert.deepEqual(faults(store), []);
  });

  it('costs the journal no more when the chat is long', async () => {
    const store = await openStore();
    const text = 'words '.repeat(1000);
    await add(
      store,
      'chat',
      turns(...Array.from({ length: 50 }, (_, index) => index)).map((row) => ({ ...row, text })),
    );
    const journalBytes = (): number => fs.statSync(path.join(store.folder, 'journal-1.log')).size;
    const before = journalBytes();
    await branch(store, 'chat', 'a49', 'through');
    const bytes = journalBytes() - before;
    assert.ok(bytes > 0 && bytes < 5_000, `${bytes} bytes for a copy of 600 kB`);
  });
});

describe('A fork', function () {
  this.timeout(30_000);

  it('is where branches part, and each chat knows its own way', async () => {
    const store = await openStore();
    await add(store, 'chat', turns(1, 2, 3));
    assert.deepEqual(forks(store, 'chat'), []);
    const edited = await branch(store, 'chat', 'p2', 'before', '1');
    const through = await branch(store, 'chat', 'a1', 'through', '2');
    const later = await branch(store, 'chat', 'a2', 'through', '3');
    const chats = ['chat', edited, through];
    assert.deepEqual(forks(store, 'chat'), [
      { after: 2, chats, current: 0 },
      { after: 4, chats: ['chat', later], current: 0 },
    ]);
    assert.deepEqual(forks(store, edited), [{ after: 2, chats, current: 1 }]);
    assert.deepEqual(forks(store, through), [{ after: 2, chats, current: 2 }]);
    assert.deepEqual(forks(store, later), [
      { after: 2, chats, current: 0 },
      { after: 4, chats: ['chat', later], current: 1 },
    ]);
  });

  it('before the first message is one, too', async () => {
    const store = await openStore();
    await add(store, 'chat', turns(1));
    const id = await branch(store, 'chat', 'p1', 'before');
    assert.deepEqual(forks(store, 'chat'), [{ after: 0, chats: ['chat', id], current: 0 }]);
    assert.deepEqual(forks(store, id), [{ after: 0, chats: ['chat', id], current: 1 }]);
  });

  it('of a branch of a branch is among those of the first where they part there, and its own where it went on', async () => {
    const store = await openStore();
    await add(store, 'chat', turns(1, 2));
    await branch(store, 'chat', 'a1', 'through', 'b');
    await add(store, 'b', [{ id: 'b3' }, { id: 'b4', role: 'assistant' }]);
    await branch(store, 'b', 'b3', 'before', 'c'); // where b parted itself
    await branch(store, 'b', 'b:1', 'through', 'd'); // in what b copied
    await branch(store, 'b', 'b4', 'through', 'e'); // in what is b's own
    const first = { after: 1, chats: ['chat', 'd'] };
    const second = { after: 2, chats: ['chat', 'b', 'c'] };
    const third = { after: 4, chats: ['b', 'e'] };
    const seen: [chat: string, forks: object[]][] = [
      [
        'chat',
        [
          { ...first, current: 0 },
          { ...second, current: 0 },
        ],
      ],
      [
        'b',
        [
          { ...first, current: 0 },
          { ...second, current: 1 },
          { ...third, current: 0 },
        ],
      ],
      [
        'c',
        [
          { ...first, current: 0 },
          { ...second, current: 2 },
        ],
      ],
      ['d', [{ ...first, current: 1 }]],
      [
        'e',
        [
          { ...first, current: 0 },
          { ...second, current: 1 },
          { ...third, current: 1 },
        ],
      ],
    ];
    for (const [chat, wanted] of seen) assert.deepEqual(forks(store, chat), wanted, chat);
  });

  it('is found through compactions of both chats, and named by their first rows', async () => {
    const store = await openStore();
    await add(store, 'chat', turns(1));
    await branch(store, 'chat', 'a1', 'through', 'b');
    const ended = `UPDATE sessions SET ended_at = 5, end_reason = 'compaction' WHERE id = ?`;
    await store.write((writer) => {
      for (const id of ['chat', 'b']) {
        writer.run(ended, [id]);
        insertSession(writer, aSession({ id: `${id}2`, parentId: id, edge: 'compaction' }));
      }
    });
    await add(store, 'chat2', [{ id: 's', role: 'summary' }, ...turns(2)]);
    await branch(store, 'chat', 'a2', 'through', 'd');
    const chats = ['chat', 'b'];
    const root = store.read((reader) => getSession(reader, 'd'))?.parentId ?? '';
    assert.deepEqual(forks(store, 'chat2'), [
      { after: 2, chats, current: 0 },
      { after: 5, chats: ['chat', root], current: 0 },
    ]);
    assert.deepEqual(forks(store, 'b2'), [{ after: 2, chats, current: 1 }]);
    assert.deepEqual(forks(store, 'd')[1], { after: 5, chats: ['chat', root], current: 1 });
  });

  it('is not told of rows whose place is not known, nor of a circle', async () => {
    const store = await openStore();
    await store.write((writer) => {
      insertSession(writer, aSession({ id: 'chat' }));
      insertSession(writer, aSession({ id: 'merged', parentId: 'chat', edge: 'branch' }));
      insertSession(writer, aSession({ id: 'own', parentId: 'merged', edge: 'branch', branchedAfter: 0 }));
      insertSession(writer, aSession({ id: 'x', parentId: 'y', edge: 'branch', branchedAfter: 0 }));
      insertSession(writer, aSession({ id: 'y', parentId: 'x', edge: 'branch', branchedAfter: 0 }));
    });
    assert.deepEqual([forks(store, 'chat'), forks(store, 'none')], [[], []]);
    assert.deepEqual(forks(store, 'merged'), [{ after: 0, chats: ['merged', 'own'], current: 0 }]);
    assert.equal(forks(store, 'x').length, 1);
  });

  it('keeps its ways when a chat is renamed or archived', async () => {
    const store = await openStore();
    await add(store, 'chat', turns(1));
    const id = await branch(store, 'chat', 'a1', 'through');
    const before = forks(store, id);
    await store.write((writer) => {
      archiveLineage(writer, 'chat', 9);
      renameLineage(writer, 'chat', 'Mine');
    });
    assert.deepEqual(forks(store, id), before);
    assert.notEqual(store.read((reader) => getSession(reader, id))?.title, 'Mine');
  });
});
