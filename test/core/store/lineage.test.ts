import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import { saveDraft } from '../../../src/core/store/drafts.ts';
import { acquireLease, guardLease, type Lease } from '../../../src/core/store/leases.ts';
import { lineageMembers, lineageOf, rootOf, tipOf } from '../../../src/core/store/lineage.ts';
import {
  archiveLineage,
  pinLineage,
  renameLineage,
  reopenLineage,
} from '../../../src/core/store/lineageChanges.ts';
import { getMessage, insertMessage, supersedeMessages } from '../../../src/core/store/messages.ts';
import { endSession, getSession, insertSession, listChats } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { displayMessages, modelMessages } from '../../../src/core/store/transcript.ts';
import type { Session } from '../../../src/core/session/model.ts';
import { openStore } from './support/stores.ts';
import { aMessage, aSession } from './support/values.ts';

/** Adds rows as given; each with one message unless told otherwise. */
async function addRows(store: Store, rows: readonly Partial<Session>[], text = 'Hello'): Promise<void> {
  await store.write((writer) => {
    for (const row of rows) {
      const session = aSession(row);
      insertSession(writer, session);
      insertMessage(writer, aMessage(session.id, { text, createdAt: session.lastActivityAt }));
    }
  });
}

const child = (id: string, parentId: string, overrides: Partial<Session> = {}): Partial<Session> => ({
  id,
  parentId,
  edge: 'compaction',
  ...overrides,
});
const compacted = { endedAt: 5, endReason: 'compaction' } as const;

describe('A lineage', function () {
  this.timeout(30_000);

  const tips: [name: string, children: Partial<Session>[], tip: string][] = [
    ['the only child', [child('b', 'a')], 'b'],
    [
      'the open child, not a closed one that was active later',
      [
        child('b', 'a', { lastActivityAt: 9, endedAt: 9, endReason: 'crash' }),
        child('c', 'a', { lastActivityAt: 3 }),
      ],
      'c',
    ],
    [
      'through the child that was compacted itself, not the open one',
      [child('b', 'a', { lastActivityAt: 9 }), child('c', 'a', compacted), child('d', 'c')],
      'd',
    ],
    [
      'among equals the one with the latest activity',
      [
        child('b', 'a', { lastActivityAt: 3000 }),
        child('c', 'a', { lastActivityAt: 9000 }),
        child('d', 'a', { lastActivityAt: 5000 }),
      ],
      'c',
    ],
    ['itself, when there are only branches', [{ id: 'b', parentId: 'a', edge: 'branch' }], 'a'],
    ['itself, when it was only reset', [{ id: 'b', parentId: 'a', edge: 'reset' }], 'a'],
  ];
  for (const [name, children, tip] of tips) {
    it(`has as its tip ${name}`, async () => {
      const store = await openStore();
      await addRows(store, [{ id: 'a', ...compacted }, ...children]);
      assert.equal(
        store.read((reader) => tipOf(reader, 'a')),
        tip,
      );
    });
  }

  it('runs from the root to the tip, whichever row is named; a row that is not there is its own', async () => {
    const store = await openStore();
    await addRows(store, [
      { id: 'z' },
      { id: 'a', parentId: 'z', edge: 'branch', ...compacted },
      child('b', 'a', compacted),
      child('c', 'b'),
      { id: 'x', parentId: 'b', edge: 'branch' },
    ]);
    const seen = store.read((reader) =>
      ['a', 'b', 'c', 'x', 'none'].map((id) => [
        lineageOf(reader, id),
        rootOf(reader, id),
        tipOf(reader, id),
        lineageMembers(reader, id),
      ]),
    );
    const whole = [['a', 'b', 'c'], 'a', 'c', ['a', 'b', 'c']];
    assert.deepEqual(seen, [whole, whole, whole, [['x'], 'x', 'x', ['x']], [[], 'none', 'none', []]]);
  });

  it('of rows that point at each other in a circle is walked once', async () => {
    const store = await openStore();
    await addRows(store, [
      child('a', 'c', compacted),
      child('b', 'a', compacted),
      child('c', 'b', compacted),
    ]);
    assert.deepEqual(
      store.read((reader) => [lineageOf(reader, 'b'), tipOf(reader, 'b'), lineageMembers(reader, 'b')]),
      [['c', 'a', 'b'], 'b', ['c', 'a', 'b']],
    );
  });
});

/** A chat compacted twice: a (3 messages) → b (summary, a copy, 2 messages) → c (summary, a copy, 1 message). */
async function addCompactedChat(store: Store): Promise<void> {
  await store.write((writer) => {
    insertSession(writer, aSession({ id: 'a', ...compacted, inputTokens: 5 }));
    insertSession(writer, aSession(child('b', 'a', { ...compacted, outputTokens: 7 })));
    insertSession(writer, aSession(child('c', 'b', { inputTokens: 2, lastActivityAt: 8000 })));
    const add = (id: string, sessionId: string, overrides: Parameters<typeof aMessage>[1] = {}): void => {
      insertMessage(writer, aMessage(sessionId, { id, text: id, ...overrides }));
    };
    for (const id of ['a1', 'a2', 'a3']) add(id, 'a');
    add('b0', 'b', { role: 'summary' });
    add('b1', 'b', { copyOf: 'a3' });
    for (const id of ['b2', 'b3']) add(id, 'b');
    add('c0', 'c', { role: 'summary' });
    add('c1', 'c', { copyOf: 'b3' });
    add('c2', 'c', { active: false });
    add('c3', 'c');
  });
}

describe('The transcript of a compacted chat', function () {
  this.timeout(30_000);
  const shown = ['a1', 'a2', 'a3', 'b0', 'b2', 'b3', 'c0', 'c2', 'c3'];

  it('shows the whole lineage verbatim, oldest first, each message once', async () => {
    const store = await openStore();
    await addCompactedChat(store);
    for (const id of ['a', 'c']) {
      const { messages, hasOlder } = store.read((reader) => displayMessages(reader, id));
      assert.deepEqual([messages.map((message) => message.id), hasOlder], [shown, false]);
    }
  });

  it('gives a model the active rows of the tip', async () => {
    const store = await openStore();
    await addCompactedChat(store);
    const rows = store.read((reader) => modelMessages(reader, 'c'));
    assert.deepEqual(
      rows.map(({ id }) => id),
      ['c0', 'c1', 'c3'],
    );
  });

  for (const limit of [1, 2, 3, 4, 9, 10]) {
    it(`comes in pages of ${limit} across compactions with no gap and no repeat`, async () => {
      const store = await openStore();
      await addCompactedChat(store);
      const pages: string[][] = [];
      let before: string | null = null;
      for (;;) {
        const page = store.read((reader) => displayMessages(reader, 'c', { before, limit }));
        pages.unshift(page.messages.map(({ id }) => id));
        if (!page.hasOlder) break;
        before = page.messages[0]?.id ?? null;
      }
      assert.deepEqual(pages.flat(), shown);
      assert.equal(pages.length, Math.ceil(shown.length / limit));
    });
  }

  it('above a message that is not in the chat there is nothing', async () => {
    const store = await openStore();
    await addCompactedChat(store);
    await addRows(store, [{ id: 'other' }]);
    const foreign = store.read((reader) => displayMessages(reader, 'other')).messages[0]?.id ?? '';
    for (const before of ['none', foreign]) {
      assert.deepEqual(
        store.read((reader) => displayMessages(reader, 'c', { before })),
        { messages: [], hasOlder: false },
      );
    }
  });

  it('of a branch shows the rows that the branch copied', async () => {
    const store = await openStore();
    await addCompactedChat(store);
    await store.write((writer) => {
      insertSession(writer, aSession({ id: 'x', parentId: 'c', edge: 'branch' }));
      insertMessage(writer, aMessage('x', { id: 'x1', copyOf: 'c3' }));
    });
    assert.deepEqual(
      store.read((reader) => displayMessages(reader, 'x')).messages.map(({ id }) => id),
      ['x1'],
    );
  });

  it('folds a retried message where it is shown and where it is sent, and not in a branch', async () => {
    const store = await openStore();
    await addCompactedChat(store);
    await store.write((writer) => {
      insertSession(writer, aSession({ id: 'x', parentId: 'b', edge: 'branch' }));
      insertMessage(writer, aMessage('x', { id: 'x1', copyOf: 'b3' }));
    });
    const active = (): boolean[] =>
      store.read((reader) => ['b3', 'c1', 'x1', 'b2'].map((id) => getMessage(reader, id)?.active === true));
    await store.write((writer) => supersedeMessages(writer, ['b3']));
    assert.deepEqual(active(), [false, false, true, true]);
    const again = await openStore();
    await addCompactedChat(again);
    await again.write((writer) => supersedeMessages(writer, ['c1']));
    assert.equal(again.read((reader) => getMessage(reader, 'b3'))?.active, false);
  });
});

describe('The chat list', function () {
  this.timeout(30_000);
  const listed = (store: Store, archived: boolean | null = null, limit = 50): string[] =>
    store.read((reader) => listChats(reader, { archived, limit })).map(({ session }) => session.id);

  it('has one entry per lineage, the tip, which counts for the whole', async () => {
    const store = await openStore();
    await addCompactedChat(store);
    await addRows(store, [{ id: 'x', parentId: 'b', edge: 'branch' }]);
    const rows = store.read((reader) => listChats(reader, { archived: false, limit: 9 }));
    const { messageCount, preview, inputTokens, outputTokens } = rows[0]?.session ?? {};
    assert.deepEqual(
      [rows.map(({ session }) => session.id), { messageCount, preview, inputTokens, outputTokens }],
      [['c', 'x'], { messageCount: 7, preview: 'a1', inputTokens: 7, outputTokens: 7 }],
    );
  });

  it('leaves out what has no message and no typed text, whatever the counter says', async () => {
    const store = await openStore();
    await store.write((writer) => {
      for (const id of ['empty', 'erased', 'typed', 'counted']) insertSession(writer, aSession({ id }));
      const draft = { text: '', caret: 0, scroll: 3, editedAt: 1 };
      saveDraft(writer, { key: 'erased', sessionId: 'erased', draft });
      saveDraft(writer, { key: 'typed', sessionId: 'typed', draft: { ...draft, text: 'I wonder' } });
      insertMessage(writer, aMessage('counted'));
      writer.run('UPDATE sessions SET message_count = 0 WHERE id = ?', ['counted']);
      writer.run('UPDATE sessions SET message_count = 9 WHERE id = ?', ['empty']);
    });
    assert.deepEqual(listed(store), ['counted', 'typed']);
  });

  it('never hides a chat for what cleanup wrote, nor one whose continuation is gone', async () => {
    const store = await openStore();
    const reasons = [
      'panel_closed',
      'orphan_reap',
      'idle_timeout',
      'lru_evict',
      'host_shutdown',
      'crash',
    ] as const;
    await addRows(store, [
      ...reasons.map((endReason) => ({ id: endReason, endReason, endedAt: 5 })),
      { id: 'childless', ...compacted },
      { id: 'archived', endReason: 'archived', endedAt: 5 },
      { id: 'reset', endReason: 'session_reset', endedAt: 5 },
    ]);
    assert.deepEqual(listed(store, false), [...reasons, 'childless'].sort().reverse());
    assert.deepEqual(listed(store, true), ['reset', 'archived']);
  });

  it('shows a chat whose continuation holds no message of its own yet', async () => {
    const store = await openStore();
    await addRows(store, [{ id: 'a', ...compacted }]);
    await store.write((writer) => insertSession(writer, aSession(child('b', 'a'))));
    assert.deepEqual(listed(store), ['b']);
  });

  it('comes in pages that skip continuations of the same chat', async () => {
    const store = await openStore();
    await addRows(store, [
      { id: 'a', ...compacted },
      child('b', 'a', { lastActivityAt: 9000 }),
      child('c', 'a', { lastActivityAt: 8000 }),
      child('d', 'a', { lastActivityAt: 7000 }),
      { id: 'e', lastActivityAt: 6000 },
      { id: 'f', lastActivityAt: 5000 },
    ]);
    assert.deepEqual(
      [listed(store, false, 1), listed(store, false, 2), listed(store, false, 3)],
      [['b'], ['b', 'e'], ['b', 'e', 'f']],
    );
  });
});

describe('What the user does to a chat', function () {
  this.timeout(30_000);

  const session = (store: Store, id: string): Session => {
    const row = store.read((reader) => getSession(reader, id));
    assert.ok(row !== null);
    return row;
  };
  const reasons = (store: Store): unknown[] => ['a', 'b', 'c', 'x'].map((id) => session(store, id).endReason);

  async function addBranchedChat(store: Store): Promise<void> {
    await addCompactedChat(store);
    await addRows(store, [{ id: 'x', parentId: 'c', edge: 'branch' }]);
  }

  it('archives the tip, keeps the reasons of compaction, leaves branches alone; reopened it has the same id', async () => {
    const store = await openStore();
    await addBranchedChat(store);
    assert.equal(await store.write((writer) => archiveLineage(writer, 'a', 77)), true);
    assert.deepEqual(reasons(store), ['compaction', 'compaction', 'archived', null]);
    assert.equal(await store.write((writer) => archiveLineage(writer, 'b', 99)), false);
    assert.equal(session(store, 'c').endedAt, 77);
    await store.write((writer) => reopenLineage(writer, 'a'));
    assert.deepEqual(reasons(store), ['compaction', 'compaction', null, null]);
    assert.equal(
      store.read((reader) => tipOf(reader, 'a')),
      'c',
    );
  });

  it('archives over what cleanup wrote, and never over a reset', async () => {
    const store = await openStore();
    await addRows(store, [{ id: 'a' }, { id: 'b' }]);
    await store.write((writer) => {
      endSession(writer, 'a', 'crash', 5);
      endSession(writer, 'b', 'session_reset', 5);
      archiveLineage(writer, 'a', 6);
      archiveLineage(writer, 'b', 6);
    });
    assert.deepEqual(
      [session(store, 'a').endReason, session(store, 'b').endReason],
      ['archived', 'session_reset'],
    );
  });

  it('archives every continuation, so that none takes the place of the archived tip', async () => {
    const store = await openStore();
    await addRows(store, [{ id: 'a', ...compacted }, child('b', 'a'), child('c', 'a')]);
    await store.write((writer) => archiveLineage(writer, 'b', 6));
    assert.deepEqual(
      [session(store, 'b').endReason, session(store, 'c').endReason],
      ['archived', 'archived'],
    );
  });

  it('archives what another window streams: the text so far lands, the next write is refused', async () => {
    const store = await openStore();
    await addRows(store, [{ id: 'a' }]);
    const lease = await store.write((writer) => {
      insertMessage(
        writer,
        aMessage('a', { id: 's', role: 'assistant', status: 'streaming', text: 'So far' }),
      );
      return take(writer, 'other');
    });
    await store.write((writer) => archiveLineage(writer, 'a', 50));
    const { status, text, finishedAt } = store.read((reader) => getMessage(reader, 's')) ?? {};
    assert.deepEqual({ status, text, finishedAt }, { status: 'interrupted', text: 'So far', finishedAt: 50 });
    assert.throws(() => store.read((reader) => guardLease(reader, lease)), { reason: 'session_not_owned' });
    assert.equal(session(store, 'a').endReason, 'archived');
  });

  it('archives with the lease of its own runtime untouched', async () => {
    const store = await openStore();
    await addRows(store, [{ id: 'a' }]);
    const lease = await store.write((writer) => take(writer, 'own'));
    await store.write((writer) => archiveLineage(writer, 'a', 50, lease));
    store.read((reader) => guardLease(reader, lease));
    await store.write((writer) => archiveLineage(writer, 'a', 50, { ...lease, epoch: lease.epoch - 1 }));
    assert.throws(() => store.read((reader) => guardLease(reader, lease)), { reason: 'session_not_owned' });
  });

  it('renames and pins every row of the chat and no branch', async () => {
    const store = await openStore();
    await addBranchedChat(store);
    await store.write((writer) => {
      renameLineage(writer, 'b', 'Mine');
      pinLineage(writer, 'b', true);
    });
    const rows = ['a', 'b', 'c', 'x'].map((id) => session(store, id));
    assert.deepEqual(
      rows.map(({ title, titleSource, pinned }) => [title, titleSource, pinned]),
      [...Array<unknown>(3).fill(['Mine', 'user', true]), ['', 'none', false]],
    );
  });

  function take(writer: Parameters<typeof acquireLease>[0], runtimeId: string): Lease {
    return acquireLease(writer, {
      sessionId: 'a',
      runtimeId,
      windowId: ulid(),
      now: 1,
      isWindowAlive: () => true,
    });
  }
});
