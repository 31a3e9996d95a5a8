import assert from 'node:assert/strict';
import {
  healRoute,
  healRoutes,
  healSession,
  type Healing,
  type HealingOptions,
  type RouteLookup,
} from '../../../src/core/runtime/healing.ts';
import type { EndReason, Session } from '../../../src/core/session/model.ts';
import { archiveLineage, reopenLineage } from '../../../src/core/store/lineageChanges.ts';
import { insertMessage } from '../../../src/core/store/messages.ts';
import { resetSession } from '../../../src/core/store/reset.ts';
import { getRoute, listRoutes, makeRoute, saveRoute, type Route } from '../../../src/core/store/routes.ts';
import { endSession, getSession, insertSession } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { dumpTables } from '../store/support/dump.ts';
import { makeFolder, openStore } from '../store/support/stores.ts';
import { aMessage, aSession } from '../store/support/values.ts';

const automatic: EndReason[] = [
  'panel_closed',
  'orphan_reap',
  'idle_timeout',
  'lru_evict',
  'host_shutdown',
  'crash',
];

/** Adds rows and routes in one transaction; each row has a message. */
async function arrange(
  store: Store,
  rows: readonly Partial<Session>[],
  routes: readonly Partial<Route>[],
): Promise<void> {
  await store.write((writer) => {
    for (const row of rows) {
      const session = aSession(row);
      insertSession(writer, session);
      insertMessage(writer, aMessage(session.id, { createdAt: session.lastActivityAt }));
    }
    for (const route of routes) {
      saveRoute(
        writer,
        makeRoute({ key: 'panel:p', sessionId: 'a', origin: 'place', updatedAt: 10, ...route }),
      );
    }
  });
}

const ended = (endReason: EndReason): Partial<Session> => ({ endedAt: 5, endReason });
const continued = (id: string, parentId: string, overrides: Partial<Session> = {}): Partial<Session> => ({
  id,
  parentId,
  edge: 'compaction',
  ...overrides,
});

function heal(store: Store, overrides: Partial<HealingOptions> = {}): Promise<Healing[]> {
  return healRoutes(store, { isWindowAlive: () => false, log: () => undefined, ...overrides });
}

const reasonOf = (store: Store, id: string): EndReason | null | undefined =>
  store.read((reader) => getSession(reader, id))?.endReason;

const panel = { key: 'panel:p', sessionId: 'a' };
const workspace = { key: 'workspace:w', sessionId: 'a', workspaceUri: 'w' };
const fails: RouteLookup = () => {
  throw new Error('no answer');
};

describe('Healing the routes', function () {
  this.timeout(30_000);

  const cases: {
    name: string;
    rows: Partial<Session>[];
    route: Partial<Route>;
    lookup?: RouteLookup;
    healed: object[];
    /** The reasons of all rows afterwards, when a reason changed. */
    reasons?: Record<string, EndReason | null>;
  }[] = [
    { name: 'keeps a route whose row is not stored', rows: [], route: panel, healed: [] },
    { name: 'keeps a route whose row is open', rows: [{ id: 'a' }], route: panel, healed: [] },
    {
      name: 'keeps a route whose row is open, also without an origin',
      rows: [{ id: 'a' }],
      route: { ...panel, origin: null },
      healed: [],
    },
    ...(['archived', 'session_reset'] as const).map((reason) => ({
      name: `keeps a panel's route on a row that ended with ${reason}, which stays ended`,
      rows: [{ id: 'a', ...ended(reason) }],
      route: { ...panel, origin: null },
      healed: [],
    })),
    ...automatic.map((reason) => ({
      name: `prunes a route without an origin whose row ended with ${reason}`,
      rows: [{ id: 'a', ...ended(reason) }],
      route: { ...panel, origin: null },
      healed: [{ kind: 'pruned', ...panel }],
    })),
    ...automatic.map((reason) => ({
      name: `reopens the same row after ${reason} and keeps the route`,
      rows: [{ id: 'a', ...ended(reason) }],
      route: { ...panel, modelOverride: 'm', resumePending: true },
      healed: [{ kind: 'reopened', ...panel }],
      reasons: { a: null },
    })),
    {
      name: 'keeps the route when the lookup fails',
      rows: [{ id: 'a', ...ended('crash') }],
      route: panel,
      lookup: fails,
      healed: [],
    },
    {
      name: 'keeps the route when the lookup names a row that is not there',
      rows: [{ id: 'a', ...ended('crash') }],
      route: panel,
      lookup: () => 'gone',
      healed: [],
    },
    {
      name: 'prunes the route when the lookup finds nothing',
      rows: [{ id: 'a', ...ended('crash') }],
      route: panel,
      lookup: () => null,
      healed: [{ kind: 'pruned', ...panel }],
    },
    {
      name: 'repoints to the tip and reopens it when cleanup had ended it',
      rows: [
        { id: 'a', ...ended('compaction') },
        continued('b', 'a', { ...ended('idle_timeout'), lastActivityAt: 7000 }),
      ],
      route: panel,
      healed: [{ kind: 'repointed', key: 'panel:p', sessionId: 'b', from: 'a' }],
      reasons: { a: 'compaction', b: null },
    },
    {
      name: 'repoints to an archived tip and leaves it archived',
      rows: [{ id: 'a', ...ended('compaction') }, continued('b', 'a', ended('archived'))],
      route: panel,
      healed: [{ kind: 'repointed', key: 'panel:p', sessionId: 'b', from: 'a' }],
      reasons: { a: 'compaction', b: 'archived' },
    },
    {
      name: 'does not take a panel out of its lineage',
      rows: [
        { id: 'a', ...ended('crash'), workspaceUri: 'w' },
        { id: 'b', workspaceUri: 'w', lastActivityAt: 9000 },
        { id: 'c', parentId: 'a', edge: 'branch' },
      ],
      route: { ...panel, workspaceUri: 'w' },
      healed: [{ kind: 'reopened', ...panel }],
      reasons: { a: null, b: null, c: null },
    },
    {
      name: 'does not reopen what the user ended, whatever the lookup says',
      rows: [{ id: 'a', ...ended('archived') }],
      route: workspace,
      lookup: () => 'a',
      healed: [],
    },
    {
      name: 'takes a workspace on to the chat with the latest activity that is open or ended by cleanup',
      rows: [
        { id: 'a', ...ended('archived'), workspaceUri: 'w', lastActivityAt: 9000 },
        { id: 'b', ...ended('session_reset'), workspaceUri: 'w', lastActivityAt: 8000 },
        { id: 'c', ...ended('compaction'), workspaceUri: 'w', lastActivityAt: 7000 },
        { id: 'd', ...ended('crash'), workspaceUri: 'w', lastActivityAt: 6000 },
        { id: 'e', workspaceUri: 'w', lastActivityAt: 5000 },
        { id: 'f', workspaceUri: 'elsewhere', lastActivityAt: 9000 },
      ],
      route: workspace,
      healed: [{ kind: 'repointed', key: 'workspace:w', sessionId: 'd', from: 'a' }],
      reasons: { a: 'archived', d: null },
    },
    {
      name: 'prunes the route of a workspace that has no other chat, adopting none of another place',
      rows: [
        { id: 'a', ...ended('archived'), workspaceUri: 'w' },
        { id: 'f', workspaceUri: 'elsewhere' },
      ],
      route: workspace,
      healed: [{ kind: 'pruned', key: 'workspace:w', sessionId: 'a' }],
    },
    {
      name: 'finds the chats of a window without a workspace',
      rows: [{ id: 'a', ...ended('archived') }, { id: 'b' }, { id: 'c', workspaceUri: 'w' }],
      route: { key: 'workspace:empty', workspaceUri: null },
      healed: [{ kind: 'repointed', key: 'workspace:empty', sessionId: 'b', from: 'a' }],
    },
  ];
  for (const { name, rows, route, lookup, healed, reasons } of cases) {
    it(name, async () => {
      const store = await openStore();
      await arrange(store, rows, [route]);
      const before = dumpTables(store);
      const { seq } = store;
      assert.deepEqual(await heal(store, lookup === undefined ? {} : { lookup }), healed);
      if (healed.length === 0) {
        assert.equal(store.seq, seq, 'nothing was written');
        assert.deepEqual(dumpTables(store), before);
      }
      for (const [id, reason] of Object.entries(reasons ?? {})) assert.equal(reasonOf(store, id), reason, id);
    });
  }

  it('of a row that goes on under the same id writes nothing but its end', async () => {
    const store = await openStore();
    await arrange(
      store,
      [{ id: 'a', ...ended('crash') }],
      [{ ...panel, modelOverride: 'm', resumePending: true, viewColumn: 2, title: 'T' }],
    );
    const { sessions, ...before } = dumpTables(store);
    await heal(store);
    const after = dumpTables(store);
    assert.deepEqual(
      after['sessions'],
      sessions?.map((row) => ({ ...row, ended_at: null, end_reason: null })),
    );
    assert.deepEqual({ ...after, sessions }, { ...before, sessions });
  });

  it('repoints with the time of the last activity, never the present', async () => {
    const store = await openStore();
    await arrange(
      store,
      [{ id: 'a', ...ended('compaction') }, continued('b', 'a', { lastActivityAt: 7000 })],
      [panel],
    );
    await heal(store);
    const { sessionId, updatedAt } = store.read((reader) => getRoute(reader, 'panel:p')) ?? {};
    assert.deepEqual({ sessionId, updatedAt }, { sessionId: 'b', updatedAt: 7000 });
    assert.equal(reasonOf(store, 'a'), 'compaction');
  });

  it('prunes several stale routes at once, in one transaction', async () => {
    const store = await openStore();
    const keys = ['panel:1', 'panel:2', 'panel:3'];
    await arrange(
      store,
      [{ id: 'a', ...ended('crash') }, { id: 'b' }],
      [...keys.map((key) => ({ key, origin: null })), { key: 'panel:4', sessionId: 'b', origin: null }],
    );
    const { seq } = store;
    const healed = await heal(store);
    assert.deepEqual([healed.map(({ key }) => key), store.seq], [keys, seq + 1]);
    assert.deepEqual(
      store.read((reader) => listRoutes(reader)).map(({ key }) => key),
      ['panel:4'],
    );
  });

  it('leaves alone what a live window claims, and heals what a dead one did', async () => {
    const store = await openStore();
    await arrange(
      store,
      [{ id: 'a', ...ended('crash') }],
      [
        { key: 'panel:dead', windowId: 'dead', origin: null },
        { key: 'panel:live', windowId: 'live', origin: null },
        { key: 'panel:free', origin: null },
      ],
    );
    const healed = await heal(store, { isWindowAlive: (id) => id === 'live' });
    assert.deepEqual(
      healed.map(({ key }) => key),
      ['panel:dead', 'panel:free'],
    );
  });

  it('goes on after a lookup that failed, and tries that route again the next time', async () => {
    const store = await openStore();
    await arrange(
      store,
      [
        { id: 'a', ...ended('crash') },
        { id: 'b', ...ended('crash') },
      ],
      [
        { key: 'panel:1', sessionId: 'a' },
        { key: 'panel:2', sessionId: 'b' },
      ],
    );
    const logged: string[] = [];
    const lookup: RouteLookup = (_reader, route) => {
      if (route.key === 'panel:1') throw new Error('no answer');
      return route.sessionId;
    };
    const first = await heal(store, { lookup, log: (line) => logged.push(line) });
    assert.deepEqual(first, [{ kind: 'reopened', key: 'panel:2', sessionId: 'b' }]);
    assert.match(logged.join('\n'), /panel:1.*no answer/);
    assert.deepEqual(await heal(store), [{ kind: 'reopened', key: 'panel:1', sessionId: 'a' }]);
  });

  it('changes nothing at all when a row cannot be read', async () => {
    const store = await openStore();
    await arrange(
      store,
      [{ id: 'a', ...ended('crash') }, { id: 'b' }],
      [
        { key: 'panel:1', sessionId: 'a', origin: null },
        { key: 'panel:2', sessionId: 'b' },
      ],
    );
    await store.write((writer) => writer.run(`UPDATE sessions SET end_reason = 'nonsense' WHERE id = 'b'`));
    const before = dumpTables(store);
    await assert.rejects(heal(store));
    assert.deepEqual(dumpTables(store), before);
  });

  it('without a store does nothing', async () => {
    assert.deepEqual(await healRoutes(null, { isWindowAlive: () => false, log: () => undefined }), []);
  });
});

describe('Healing when a message is about to be sent', function () {
  this.timeout(30_000);
  const options: HealingOptions = { isWindowAlive: () => true, log: () => undefined };

  it('heals the one route, also one that a live window claims', async () => {
    const store = await openStore();
    await arrange(
      store,
      [{ id: 'a', ...ended('compaction') }, continued('b', 'a', ended('crash'))],
      [{ ...panel, windowId: store.windowId }],
    );
    const healing = await store.write((writer) => healRoute(writer, 'panel:p', options));
    assert.deepEqual(healing, { kind: 'repointed', key: 'panel:p', sessionId: 'b', from: 'a' });
    assert.equal(reasonOf(store, 'b'), null);
    assert.equal(await store.write((writer) => healRoute(writer, 'panel:none', options)), null);
  });

  it('writes to the tip, reopened after cleanup, but not to what the user ended', async () => {
    const store = await openStore();
    await arrange(
      store,
      [
        { id: 'a', ...ended('compaction') },
        continued('b', 'a', ended('crash')),
        { id: 'c', ...ended('archived') },
        { id: 'd' },
      ],
      [],
    );
    const ids = await store.write((writer) => ['a', 'c', 'd', 'new'].map((id) => healSession(writer, id)));
    assert.deepEqual(ids, ['b', 'c', 'd', 'new']);
    assert.deepEqual([reasonOf(store, 'b'), reasonOf(store, 'c')], [null, 'archived']);
  });
});

describe('Archive and Start New', function () {
  this.timeout(30_000);
  const options: HealingOptions = { isWindowAlive: () => false, log: () => undefined };

  /** The workspace shows b, a is an older chat of it. The clock says `now`. */
  async function reset(store: Store, now: number): Promise<Session> {
    await arrange(
      store,
      [
        { id: 'a', workspaceUri: 'w' },
        { id: 'b', workspaceUri: 'w' },
      ],
      [
        { ...workspace, sessionId: 'b', origin: 'workspace:w' },
        { key: 'panel:p', sessionId: 'b', origin: 'panel:p' },
      ],
    );
    return store.write((writer) =>
      resetSession(writer, {
        sessionId: 'b',
        origin: 'workspace:w',
        now,
        newSession: aSession({ id: 'c', workspaceUri: 'w', createdAt: now }),
      }),
    );
  }

  it('ends the chat for good, and its place shows a new one that came from it', async () => {
    const store = await openStore();
    const { id, parentId, edge, endReason } = await reset(store, 50);
    assert.deepEqual(
      { id, parentId, edge, endReason },
      { id: 'c', parentId: 'b', edge: 'reset', endReason: null },
    );
    assert.deepEqual([reasonOf(store, 'a'), reasonOf(store, 'b')], [null, 'session_reset']);
    assert.deepEqual(
      store.read((reader) => listRoutes(reader)).map(({ key, sessionId }) => [key, sessionId]),
      [
        ['panel:p', 'b'],
        ['workspace:w', 'c'],
      ],
    );
    await store.write((writer) => archiveLineage(writer, 'b', 60));
    assert.equal(reasonOf(store, 'b'), 'session_reset');
  });

  for (const [name, now] of [
    ['', 50],
    [', also with the clock set back', -1_000_000],
  ] as const) {
    it(`refuses everything older in the place, so the next message gets a third id${name}`, async () => {
      const store = await openStore();
      await reset(store, now);
      await store.write((writer) => {
        endSession(writer, 'c', 'session_reset', now);
        // As a place that was never pointed to the new chat: what is left in it is older than the fence.
        saveRoute(writer, makeRoute({ ...workspace, sessionId: 'b', origin: 'workspace:w', updatedAt: 10 }));
      });
      const healing = await store.write((writer) => healRoute(writer, 'workspace:w', options));
      assert.deepEqual(healing, { kind: 'pruned', key: 'workspace:w', sessionId: 'b' });
    });
  }

  it('keeps its fence when the row is reopened, and lets in what is active after it', async () => {
    const store = await openStore();
    await reset(store, 50);
    await store.write((writer) => {
      reopenLineage(writer, 'b');
      endSession(writer, 'c', 'archived', 60);
    });
    const healOnce = (): Promise<Healing | null> =>
      store.write((writer) => {
        saveRoute(writer, makeRoute({ ...workspace, sessionId: 'c', origin: 'workspace:w', updatedAt: 10 }));
        return healRoute(writer, 'workspace:w', options);
      });
    assert.equal((await healOnce())?.kind, 'pruned');
    await store.write((writer) => insertMessage(writer, aMessage('a')));
    assert.deepEqual(await healOnce(), { kind: 'repointed', key: 'workspace:w', sessionId: 'a', from: 'c' });
  });

  it('refuses an older candidate of any lookup, also for a panel', async () => {
    const store = await openStore();
    await arrange(store, [{ id: 'a', ...ended('crash') }], [{ ...panel, origin: 'panel:p' }]);
    await store.write((writer) =>
      resetSession(writer, {
        sessionId: 'other',
        origin: 'panel:p',
        now: 1,
        newSession: aSession({ id: 'c' }),
      }),
    );
    const healing = await store.write((writer) =>
      healRoute(writer, 'panel:p', { ...options, lookup: () => 'a' }),
    );
    assert.equal(healing?.kind, 'pruned');
    assert.equal(reasonOf(store, 'a'), 'crash');
  });

  it('of a chat that was never stored starts a chat without a parent', async () => {
    const store = await openStore();
    const { parentId, edge } = await store.write((writer) =>
      resetSession(writer, { sessionId: 'none', origin: 'o', now: 1, newSession: aSession({ id: 'c' }) }),
    );
    assert.deepEqual([parentId, edge], [null, null]);
  });
});

describe('An archived chat', function () {
  this.timeout(30_000);

  it('that was opened, read, closed and reloaded is still archived and still shown; reopened it has its id', async () => {
    const folder = makeFolder();
    const first = await openStore({ folder });
    await arrange(first, [{ id: 'a' }], [panel]);
    await first.write((writer) => archiveLineage(writer, 'a', 50));
    const before = dumpTables(first);
    await first.close();
    for (let restart = 0; restart < 3; restart++) {
      const store = await openStore({ folder });
      assert.deepEqual(await heal(store), []);
      assert.deepEqual(dumpTables(store), before);
      await store.close();
    }
    const store = await openStore({ folder });
    await store.write((writer) => reopenLineage(writer, 'a'));
    assert.deepEqual(
      [store.read((reader) => getRoute(reader, 'panel:p'))?.sessionId, reasonOf(store, 'a')],
      ['a', null],
    );
  });
});
