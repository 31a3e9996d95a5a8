/** Edges of the rows behind a chat: continuations, resets, routes. */
import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import { compactSession } from '../../../src/core/runtime/compaction.ts';
import type { Session } from '../../../src/core/session/model.ts';
import { acquireLease, holdsLease, type Lease } from '../../../src/core/store/leases.ts';
import { lineageOf, lineageOfTip, tipOf } from '../../../src/core/store/lineage.ts';
import { insertMessage } from '../../../src/core/store/messages.ts';
import { resetSession } from '../../../src/core/store/reset.ts';
import {
  claimRoute,
  getRoute,
  isClaimed,
  listRoutes,
  makeRoute,
  repointRoute,
  saveRoute,
  wasShownByPanel,
  workspaceRouteKey,
} from '../../../src/core/store/routes.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { openStore } from '../store/support/stores.ts';
import { aMessage, aSession } from '../store/support/values.ts';

const compacted = { endedAt: 1, endReason: 'compaction' } as const;

async function addRows(store: Store, rows: readonly Partial<Session>[]): Promise<void> {
  // One transaction each, so that each has a number of its own.
  for (const row of rows) await store.write((writer) => insertSession(writer, aSession(row)));
}

function child(id: string, parentId: string, overrides: Partial<Session> = {}): Partial<Session> {
  return { id, parentId, edge: 'compaction', ...overrides };
}

function take(store: Store, sessionId: string): Promise<Lease> {
  const request = { sessionId, runtimeId: 'r', windowId: 'w', now: 1, isWindowAlive: () => true };
  return store.write((writer) => acquireLease(writer, request));
}

describe('Among continuations that are equally good', function () {
  this.timeout(30_000);

  it('the one that was active last in the journal is the tip', async () => {
    const store = await openStore();
    await addRows(store, [{ id: 'a', ...compacted }, child('c', 'a'), child('b', 'a')]);
    assert.equal(
      store.read((reader) => tipOf(reader, 'a')),
      'b',
    );
    const other = await openStore();
    await addRows(other, [{ id: 'a', ...compacted }, child('b', 'a'), child('c', 'a')]);
    assert.equal(
      other.read((reader) => tipOf(reader, 'a')),
      'c',
    );
  });

  it('and as late as each other, the later id: every window chooses the same', async () => {
    for (const ids of [
      ['b', 'c', 'd'],
      ['d', 'c', 'b'],
      ['c', 'd', 'b'],
    ]) {
      const store = await openStore();
      await store.write((writer) => {
        insertSession(writer, aSession({ id: 'a', ...compacted }));
        for (const id of ids) insertSession(writer, aSession(child(id, 'a')));
      });
      assert.equal(
        store.read((reader) => tipOf(reader, 'a')),
        'd',
      );
    }
  });

  it('only the tip stands for the chat, however long it is', async () => {
    const store = await openStore();
    await addRows(store, [
      { id: 'a', ...compacted },
      child('b', 'a', compacted),
      child('x', 'a', { endedAt: 1, endReason: 'crash' }),
      child('c', 'b'),
    ]);
    const seen = store.read((reader) => ['a', 'b', 'x', 'c', 'none'].map((id) => lineageOfTip(reader, id)));
    assert.deepEqual(seen, [null, null, null, ['a', 'b', 'c'], null]);
  });

  it('of a row that is not there there is no chat', async () => {
    const store = await openStore();
    await addRows(store, [child('b', 'gone')]);
    assert.deepEqual(
      store.read((reader) => [lineageOf(reader, 'gone'), tipOf(reader, 'gone'), lineageOf(reader, 'b')]),
      [[], 'gone', ['b']],
    );
  });
});

describe('Starting anew', function () {
  this.timeout(30_000);

  it('takes no lease from who asks for it, and every lease from others', async () => {
    for (const isOurs of [true, false]) {
      const store = await openStore();
      await addRows(store, [{ id: 'a' }]);
      const lease = await take(store, 'a');
      const reset = { sessionId: 'a', origin: 'o', now: 2, newSession: aSession({ id: 'n' }) };
      await store.write((writer) => resetSession(writer, isOurs ? { ...reset, keep: lease } : reset));
      assert.equal(
        store.read((reader) => holdsLease(reader, lease)),
        isOurs,
      );
    }
  });

  it('from a chat that was never stored makes an open chat without a past, and moves the place to it', async () => {
    const store = await openStore();
    await store.write((writer) =>
      saveRoute(writer, makeRoute({ key: 'panel:p', sessionId: 'none', origin: 'o', updatedAt: 1 })),
    );
    const stale = aSession({ id: 'n', parentId: 'x', edge: 'branch', ...compacted });
    const { parentId, edge, endedAt, endReason } = await store.write((writer) =>
      resetSession(writer, { sessionId: 'none', origin: 'o', now: 2, newSession: stale }),
    );
    assert.deepEqual([parentId, edge, endedAt, endReason], [null, null, null, null]);
    assert.equal(store.read((reader) => getRoute(reader, 'panel:p'))?.sessionId, 'n');
  });

  it('moves no route of the place that shows another chat', async () => {
    const store = await openStore();
    await addRows(store, [{ id: 'a' }, { id: 'b' }]);
    await store.write((writer) =>
      saveRoute(writer, makeRoute({ key: 'panel:p', sessionId: 'b', origin: 'o', updatedAt: 1 })),
    );
    await store.write((writer) =>
      resetSession(writer, { sessionId: 'a', origin: 'o', now: 2, newSession: aSession({ id: 'n' }) }),
    );
    assert.equal(store.read((reader) => getRoute(reader, 'panel:p'))?.sessionId, 'b');
  });
});

describe('Compaction', function () {
  this.timeout(30_000);

  async function compact(store: Store, lease: Lease): Promise<void> {
    const compaction = { sessionId: 'a', lease, childId: 'n', newId: ulid, now: 9 };
    await store.write((writer) => compactSession(writer, compaction));
  }

  async function arrange(store: Store): Promise<Lease> {
    await addRows(store, [{ id: 'a', source: 'cli' }, { id: 'b' }]);
    await store.write((writer) => insertMessage(writer, aMessage('a', { text: 'Hello' })));
    return take(store, 'a');
  }

  it('moves the routes of its own chat and no other', async () => {
    const store = await openStore();
    const lease = await arrange(store);
    await store.write((writer) => {
      for (const sessionId of ['a', 'b']) {
        saveRoute(writer, makeRoute({ key: `workspace:${sessionId}`, sessionId, updatedAt: 1 }));
      }
    });
    await compact(store, lease);
    assert.deepEqual(
      store.read((reader) => listRoutes(reader)).map(({ key, sessionId }) => [key, sessionId]),
      [
        ['workspace:a', 'n'],
        ['workspace:b', 'b'],
      ],
    );
  });

  for (const wasShown of [true, false]) {
    it(`of a chat that ${wasShown ? 'a panel has shown, long ago,' : 'no panel has shown'} stays one`, async () => {
      const store = await openStore();
      const lease = await arrange(store);
      if (wasShown) {
        await store.write((writer) => {
          saveRoute(writer, makeRoute({ key: 'panel:p', sessionId: 'a', updatedAt: 1 }));
          writer.run('DELETE FROM routes');
        });
      }
      await compact(store, lease);
      assert.equal(
        store.read((reader) => wasShownByPanel(reader, 'n')),
        wasShown,
      );
    });
  }
});

describe('A route', function () {
  this.timeout(30_000);

  it('that says nothing else says this', () => {
    assert.deepEqual(makeRoute({ key: 'k', sessionId: 's', updatedAt: 1 }), {
      key: 'k',
      sessionId: 's',
      origin: null,
      workspaceUri: null,
      viewColumn: null,
      title: '',
      modelOverride: null,
      resumePending: false,
      updatedAt: 1,
      closedAt: null,
      windowId: null,
    });
    assert.deepEqual([workspaceRouteKey(null), workspaceRouteKey('w')], ['workspace:empty', 'workspace:w']);
  });

  it('that no window shows is claimed by none, though every window lives', () => {
    const claims = [null, 'w'].map((windowId) => isClaimed({ windowId }, () => true));
    assert.deepEqual(claims, [false, true]);
  });

  it('that was closed is open again for who claims it, also for the window that showed it last', async () => {
    const store = await openStore();
    for (const windowId of [null, 'w']) {
      const route = makeRoute({ key: 'panel:p', sessionId: 's', updatedAt: 1, closedAt: 5, windowId });
      await store.write((writer) => saveRoute(writer, route));
      const claim = { key: 'panel:p', windowId: 'w', isWindowAlive: () => true };
      const expected = { ...route, windowId: 'w', closedAt: null };
      assert.deepEqual(await store.write((writer) => claimRoute(writer, claim)), expected);
      assert.deepEqual(
        store.read((reader) => getRoute(reader, 'panel:p')),
        expected,
      );
    }
  });

  it('that is gone meanwhile cannot be moved, and is not made anew', async () => {
    const store = await openStore();
    assert.equal(await store.write((writer) => repointRoute(writer, 'panel:p', 'a', 'b', 2)), false);
    assert.deepEqual(
      store.read((reader) => listRoutes(reader)),
      [],
    );
  });

  it('is found by any of what it says', async () => {
    const store = await openStore();
    const one = { sessionId: 's1', workspaceUri: 'w1', origin: 'o1', windowId: 'x1' };
    const two = { sessionId: 's2', workspaceUri: null, origin: 'o2', windowId: null };
    await store.write((writer) => {
      saveRoute(writer, makeRoute({ key: 'panel:1', updatedAt: 1, ...one }));
      saveRoute(writer, makeRoute({ key: 'panel:2', updatedAt: 1, ...two }));
    });
    const found = (filter: Parameters<typeof listRoutes>[1]): string[] =>
      store.read((reader) => listRoutes(reader, filter)).map(({ key }) => key);
    for (const filter of [
      { sessionId: 's2' },
      { workspaceUri: null },
      { origin: 'o2' },
      { windowId: null },
    ]) {
      assert.deepEqual(found(filter), ['panel:2'], JSON.stringify(filter));
    }
    assert.deepEqual(found({ sessionId: 's1', origin: 'o2' }), []);
    assert.deepEqual(found(undefined), ['panel:1', 'panel:2']);
  });
});
