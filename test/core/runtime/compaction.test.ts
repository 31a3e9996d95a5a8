import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import {
  compactSession,
  prepareSummary,
  type Compacted,
  type Compaction,
} from '../../../src/core/runtime/compaction.ts';
import { recoverInterrupted } from '../../../src/core/runtime/recovery.ts';
import type { EndReason, Message, Session } from '../../../src/core/session/model.ts';
import { toModelMessages } from '../../../src/core/session/projection.ts';
import { nodeFiles, type FileLayer } from '../../../src/core/store/fileLayer.ts';
import { getDraft, saveDraft } from '../../../src/core/store/drafts.ts';
import { acquireLease, getLease, takeOverLease, type Lease } from '../../../src/core/store/leases.ts';
import { lineageOf, tipOf } from '../../../src/core/store/lineage.ts';
import { insertMessage, listMessages, supersedeMessages } from '../../../src/core/store/messages.ts';
import {
  deleteRoute,
  getRoute,
  makeRoute,
  saveRoute,
  wasShownByPanel,
} from '../../../src/core/store/routes.ts';
import { endSession, getSession, insertSession, listChats } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { displayMessages, modelMessages } from '../../../src/core/store/transcript.ts';
import type { WriteTransaction } from '../../../src/core/store/transaction.ts';
import { dumpTables } from '../store/support/dump.ts';
import { filesWithoutSync, makeFolder, openStore } from '../store/support/stores.ts';
import { aMessage, aSession } from '../store/support/values.ts';

const words = 'bicycle '.repeat(50); // about 100 tokens

/** A turn with a tool call: prompt, call, result, answer. */
function addTurn(writer: WriteTransaction, sessionId: string, name: string): void {
  const add = (id: string, overrides: Partial<Message>): void => {
    insertMessage(
      writer,
      aMessage(sessionId, { id: `${name}-${id}`, text: `${name} ${id} ${words}`, ...overrides }),
    );
  };
  const call = {
    id: `call-${name}`,
    name: 'readFile',
    arguments: JSON.stringify({ path: `src/${name}.ts` }),
  };
  add('prompt', {});
  add('call', { role: 'assistant', toolCalls: [call] });
  add('result', { role: 'tool', toolCallId: call.id, toolName: 'readFile' });
  add('answer', { role: 'assistant' });
}

function take(writer: WriteTransaction, sessionId: string): Lease {
  const request = { sessionId, runtimeId: 'r', windowId: 'w', now: 1 };
  return acquireLease(writer, { ...request, isWindowAlive: () => true });
}

const turnTokens = 500;

function compact(store: Store, lease: Lease, overrides: Partial<Compaction> = {}): Promise<Compacted> {
  return store.write((writer) =>
    compactSession(writer, {
      sessionId: 'a',
      lease,
      childId: 'b',
      newId: ulid,
      now: 5000,
      keptTokens: turnTokens,
      ...overrides,
    }),
  );
}

/** A pinned chat of three turns with a draft and a panel. */
async function arrange(store: Store, overrides: Partial<Session> = {}): Promise<Lease> {
  return store.write((writer) => {
    insertSession(
      writer,
      aSession({
        id: 'a',
        title: 'Bicycles',
        titleSource: 'user',
        workspaceUri: 'file:///w',
        workspaceName: 'w',
        modelId: 'm',
        pinned: true,
        ...overrides,
      }),
    );
    for (const name of ['one', 'two', 'three']) addTurn(writer, 'a', name);
    const draft = { text: 'And th', caret: 6, scroll: null, editedAt: 9 };
    saveDraft(writer, { key: 'a', sessionId: 'a', draft });
    saveRoute(writer, makeRoute({ key: 'panel:p', sessionId: 'a', updatedAt: 1 }));
    return take(writer, 'a');
  });
}

const reasonOf = (store: Store, id: string): EndReason | null | undefined =>
  store.read((reader) => getSession(reader, id))?.endReason;

describe('Compacting a chat', function () {
  this.timeout(30_000);

  it('goes on in one transaction in a child that inherits what the chat is to the user', async () => {
    const store = await openStore();
    const lease = await arrange(store);
    const { seq } = store;
    const { session } = await compact(store, lease);
    assert.equal(store.seq, seq + 1);
    const { id, title, titleSource, workspaceUri, workspaceName, modelId, pinned, source, parentId, edge } =
      session;
    assert.deepEqual(
      { id, title, titleSource, workspaceUri, workspaceName, modelId, pinned, source, parentId, edge },
      {
        id: 'b',
        title: 'Bicycles',
        titleSource: 'user',
        workspaceUri: 'file:///w',
        workspaceName: 'w',
        modelId: 'm',
        pinned: true,
        source: 'panel',
        parentId: 'a',
        edge: 'compaction',
      },
    );
    assert.deepEqual([reasonOf(store, 'a'), reasonOf(store, 'b')], ['compaction', null]);
    assert.deepEqual(
      store
        .read((reader) => listChats(reader, { limit: 9 }))
        .map((row) => [row.session.id, row.session.messageCount]),
      [['b', 12]],
    );
  });

  it('takes the summary that was made before, unless the chat is another by now', async () => {
    const store = await openStore();
    const lease = await arrange(store);
    const prepared = await prepareSummary(store, 'a', turnTokens);
    const plain = await openStore();
    const { messages: own } = await compact(plain, await arrange(plain));
    assert.equal(prepared.text, own[0]?.text);
    const marked = { ...prepared, text: 'made before' };
    const { messages } = await compact(store, lease, { prepared: marked });
    assert.equal(messages[0]?.text, 'made before');

    const other = await openStore();
    const otherLease = await arrange(other);
    const stale = { ...(await prepareSummary(other, 'a', turnTokens)), text: 'made before' };
    await other.write((writer) => addTurn(writer, 'a', 'four'));
    const late = await compact(other, otherLease, { prepared: stale });
    assert.match(late.messages[0]?.text ?? '', /three/);
    assert.doesNotMatch(late.messages[0]?.text ?? '', /made before/);
  });

  it('with the clock set back does not make the chat look older', async () => {
    const store = await openStore();
    const { session } = await compact(store, await arrange(store), { now: -1 });
    assert.equal(session.lastActivityAt, 2000);
  });

  it('counts the tokens of the whole chat once', async () => {
    const store = await openStore();
    await compact(store, await arrange(store, { inputTokens: 7, outputTokens: 3 }));
    const [row] = store.read((reader) => listChats(reader, { limit: 9 }));
    assert.deepEqual([row?.session.inputTokens, row?.session.outputTokens], [7, 3]);
  });

  it('moves the routes, the lease and what was typed', async () => {
    const store = await openStore();
    const before = await arrange(store);
    const { lease } = await compact(store, before);
    assert.deepEqual(
      store.read((reader) => [
        getRoute(reader, 'panel:p')?.sessionId,
        getDraft(reader, 'b'),
        getDraft(reader, 'a'),
        getLease(reader, 'b'),
        getLease(reader, 'a')?.isHeld,
        wasShownByPanel(reader, 'b'),
      ]),
      [
        'b',
        { key: 'b', sessionId: 'b', draft: { text: 'And th', caret: 6, scroll: null, editedAt: 9 } },
        null,
        lease,
        false,
        true,
      ],
    );
    assert.deepEqual([lease.runtimeId, lease.windowId, lease.isHeld], ['r', 'w', true]);
  });

  it('gives the model a summary and the newest turns, whole, and shows everything once', async () => {
    const store = await openStore();
    const lease = await arrange(store);
    const shown = store.read((reader) => displayMessages(reader, 'a')).messages;
    const { messages } = await compact(store, lease);
    assert.deepEqual(
      messages.map(({ role, copyOf }) => [role, copyOf]),
      [
        ['summary', null],
        ['user', 'three-prompt'],
        ['assistant', 'three-call'],
        ['tool', 'three-result'],
        ['assistant', 'three-answer'],
      ],
    );
    assert.deepEqual(
      messages,
      store.read((reader) => modelMessages(reader, tipOf(reader, 'a'))),
    );
    assert.match(messages[0]?.text ?? '', /one prompt[\s\S]*src\/two\.ts[\s\S]*two answer/);
    assert.doesNotMatch(messages[0]?.text ?? '', /three/);
    const after = store.read((reader) => displayMessages(reader, 'b')).messages;
    assert.deepEqual(
      after.filter(({ role }) => role !== 'summary'),
      shown,
    );
    assert.deepEqual(
      toModelMessages(messages).map(({ role }) => role),
      ['user', 'assistant', 'tool', 'assistant'],
    );
  });

  it('again makes the new summary of all that was said, not of the summary', async () => {
    const store = await openStore();
    const first = await compact(store, await arrange(store));
    await store.write((writer) => {
      addTurn(writer, 'b', 'four');
      saveRoute(writer, makeRoute({ key: 'panel:late', sessionId: 'a', updatedAt: 1 }));
    });
    const { messages } = await compact(store, first.lease, { sessionId: 'b', childId: 'c', now: 6000 });
    assert.deepEqual(
      messages.map(({ copyOf }) => copyOf),
      [null, 'four-prompt', 'four-call', 'four-result', 'four-answer'],
    );
    assert.match(messages[0]?.text ?? '', /one prompt[\s\S]*three answer/);
    assert.equal(messages[0]?.text.match(/Goal:/g)?.length, 1);
    assert.deepEqual(
      store.read((reader) => [
        lineageOf(reader, 'a'),
        getRoute(reader, 'panel:p')?.sessionId,
        getRoute(reader, 'panel:late')?.sessionId,
      ]),
      [['a', 'b', 'c'], 'c', 'c'],
    );
  });

  it('again with the same turns kept names the originals, so that none is shown twice', async () => {
    const store = await openStore();
    const first = await compact(store, await arrange(store), { keptTokens: 2 * turnTokens });
    const { messages } = await compact(store, first.lease, { sessionId: 'b', childId: 'c' });
    assert.deepEqual(
      messages.map(({ copyOf }) => copyOf),
      [null, 'three-prompt', 'three-call', 'three-result', 'three-answer'],
    );
    assert.match(messages[0]?.text ?? '', /two answer/);
    assert.doesNotMatch(messages[0]?.text ?? '', /three/);
    await store.write((writer) => supersedeMessages(writer, ['three-answer']));
    assert.deepEqual(
      store.read((reader) =>
        ['a', 'b', 'c'].map((id) => listMessages(reader, id).filter((message) => !message.active).length),
      ),
      [1, 1, 1],
    );
  });

  it('remembers that a panel has shown the chat, also when that route is gone', async () => {
    const store = await openStore();
    const lease = await arrange(store, { source: 'cli' });
    await store.write((writer) => deleteRoute(writer, 'panel:p'));
    await compact(store, lease);
    assert.equal(
      store.read((reader) => wasShownByPanel(reader, 'b')),
      true,
    );
  });

  it('of a branch names the rows of the branch, not those it was copied from', async () => {
    const store = await openStore();
    const lease = await store.write((writer) => {
      insertSession(writer, aSession({ id: 'a', parentId: 'z', edge: 'branch' }));
      insertMessage(writer, aMessage('a', { id: 'a1', copyOf: 'z1', text: 'First' }));
      insertMessage(writer, aMessage('a', { id: 'a2', copyOf: 'z2', text: 'Second' }));
      return take(writer, 'a');
    });
    const { messages } = await compact(store, lease);
    assert.deepEqual(
      messages.map(({ copyOf, text }) => [copyOf, text]),
      [
        [null, 'Goal:\n- First'],
        ['a2', 'Second'],
      ],
    );
  });

  it('does not wait for answers in other chats', async () => {
    const store = await openStore();
    const lease = await arrange(store);
    await store.write((writer) => {
      insertSession(writer, aSession({ id: 'busy' }));
      insertMessage(writer, aMessage('busy', { role: 'assistant', status: 'streaming' }));
    });
    assert.equal((await compact(store, lease)).session.id, 'b');
  });

  it('leaves out what a retry replaced, and keeps no turn that is too long', async () => {
    const store = await openStore();
    const lease = await arrange(store);
    await store.write((writer) => supersedeMessages(writer, ['three-answer']));
    const { messages } = await compact(store, lease, { keptTokens: 3000 });
    assert.deepEqual(messages.map(({ copyOf }) => copyOf).slice(-3), [
      'three-prompt',
      'three-call',
      'three-result',
    ]);
    assert.equal(messages.length, 1 + 4 + 3);
    const short = await openStore();
    const { messages: rows } = await compact(short, await arrange(short), { keptTokens: 10 });
    assert.deepEqual(
      rows.map(({ role }) => role),
      ['summary'],
    );
  });

  it('goes on with a chat that cleanup had ended', async () => {
    const store = await openStore();
    const lease = await arrange(store, { source: 'cli' });
    await store.write((writer) => endSession(writer, 'a', 'idle_timeout', 5));
    await compact(store, lease);
    assert.deepEqual([reasonOf(store, 'a'), reasonOf(store, 'b')], ['compaction', null]);
  });

  const failures: [
    name: string,
    reason: string,
    spoil: (writer: WriteTransaction) => void,
    Partial<Compaction>,
  ][] = [
    [
      'while an answer streams',
      'running',
      (writer) => {
        insertMessage(writer, aMessage('a', { role: 'assistant', status: 'streaming' }));
      },
      {},
    ],
    [
      'after another window took the chat over',
      'session_not_owned',
      (writer) => {
        takeOverLease(writer, { sessionId: 'a', runtimeId: 'other', windowId: 'other', now: 2 });
      },
      {},
    ],
    [
      'of an archived chat',
      'archived',
      (writer) => {
        endSession(writer, 'a', 'archived', 5);
      },
      {},
    ],
    ['of a chat that does not exist', 'unknown_session', () => undefined, { sessionId: 'none' }],
  ];
  for (const [name, reason, spoil, overrides] of failures) {
    it(`${name} is refused and changes nothing: the parent stays usable`, async () => {
      const store = await openStore();
      const lease = await arrange(store);
      await store.write(spoil);
      const before = dumpTables(store);
      await assert.rejects(compact(store, lease, overrides), { reason });
      assert.deepEqual(dumpTables(store), before);
    });
  }

  it('of a row that is compacted already, or of nothing but a summary, is refused', async () => {
    const store = await openStore();
    const lease = await arrange(store);
    const { lease: moved } = await compact(store, lease, { keptTokens: 10 });
    const before = dumpTables(store);
    await assert.rejects(compact(store, lease), { reason: 'nothing_to_do' });
    await assert.rejects(compact(store, moved, { sessionId: 'b', childId: 'c' }), {
      reason: 'nothing_to_do',
    });
    assert.deepEqual(dumpTables(store), before);
  });

  it('that breaks in its middle leaves the parent open, its lease held, and a later try succeeds', async () => {
    const store = await openStore();
    const lease = await arrange(store);
    const before = dumpTables(store);
    let made = 0;
    const newId = (): string => {
      if (++made === 3) throw new Error('out of ids');
      return ulid();
    };
    await assert.rejects(compact(store, lease, { newId }), /out of ids/);
    assert.deepEqual(dumpTables(store), before);
    await store.write((writer) => insertMessage(writer, aMessage('a', { text: 'Still here' })));
    assert.equal((await compact(store, lease)).session.id, 'b');
  });

  it('on a full disk leaves the parent open, and succeeds when there is room again', async () => {
    let isFull = false;
    const files: FileLayer = {
      ...filesWithoutSync,
      append: (descriptor, bytes) => {
        if (isFull) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
        return nodeFiles.append(descriptor, bytes);
      },
    };
    const store = await openStore({ files });
    const lease = await arrange(store);
    const before = dumpTables(store);
    isFull = true;
    await assert.rejects(compact(store, lease), { reason: 'full' });
    assert.deepEqual(dumpTables(store), before);
    isFull = false;
    assert.equal((await compact(store, lease)).session.id, 'b');
  });

  it('is seen by another window as the live parent or the complete child', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder });
    const other = await openStore({ folder });
    const lease = await arrange(store);
    const seen = (): unknown[] =>
      other.read((reader) => {
        const tip = tipOf(reader, 'a');
        return [tip, getSession(reader, tip)?.endReason, modelMessages(reader, tip).length];
      });
    assert.deepEqual(seen(), ['a', null, 12]);
    await compact(store, lease);
    assert.deepEqual(seen(), ['b', null, 5]);
  });
});

describe('The start of a window', function () {
  this.timeout(30_000);
  const alive = (id: string): boolean => id === 'live';

  async function arrangeStreams(store: Store): Promise<void> {
    await store.write((writer) => {
      for (const id of ['dead', 'live', 'released', 'never']) {
        insertSession(writer, aSession({ id }));
        insertMessage(writer, aMessage(id, { id: `${id}-1` }));
        const streaming = { role: 'assistant', status: 'streaming', text: `${id} so far` } as const;
        insertMessage(writer, aMessage(id, { id: `${id}-2`, ...streaming }));
        if (id === 'never') continue;
        takeOverLease(writer, { sessionId: id, runtimeId: id, windowId: id, now: 1 });
      }
      writer.run(`UPDATE leases SET is_held = 0 WHERE session_id = 'released'`);
    });
  }

  it('marks what the dead were writing as interrupted, text kept, lets go of their leases, touches nothing else', async () => {
    const store = await openStore();
    await arrangeStreams(store);
    const before = dumpTables(store);
    assert.equal(await recoverInterrupted(store, alive, 77), 3);
    const after = dumpTables(store);
    const interrupted = ['dead-2', 'released-2', 'never-2'];
    const expected = {
      ...before,
      messages: before['messages']?.map((row) =>
        interrupted.includes(String(row['id'])) ? { ...row, status: 'interrupted', finished_at: 77 } : row,
      ),
      leases: before['leases']?.map((row) => (row['window_id'] === 'dead' ? { ...row, is_held: 0 } : row)),
    };
    const byText = (rows: object[] = []): string[] => rows.map((row) => JSON.stringify(row)).sort();
    for (const [table, rows] of Object.entries(after)) {
      assert.deepEqual(byText(rows), byText(new Map(Object.entries(expected)).get(table)), table);
    }
  });

  it('three times over leaves every table as it was and writes nothing', async () => {
    const folder = makeFolder();
    const first = await openStore({ folder });
    await arrangeStreams(first);
    await recoverInterrupted(first, alive, 77);
    const before = dumpTables(first);
    const { seq } = first;
    await first.close();
    for (let restart = 0; restart < 3; restart++) {
      const store = await openStore({ folder });
      assert.equal(await recoverInterrupted(store, alive, 99 + restart), 0);
      assert.deepEqual(dumpTables(store), before);
      assert.equal(store.seq, seq);
      await store.close();
    }
  });
});
