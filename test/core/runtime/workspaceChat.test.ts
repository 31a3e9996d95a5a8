import assert from 'node:assert/strict';
import type { HealingOptions } from '../../../src/core/runtime/healing.ts';
import { matchLostPanel, type LostPanel } from '../../../src/core/runtime/lostPanel.ts';
import { findWorkspaceChat } from '../../../src/core/runtime/workspaceChat.ts';
import type { Session } from '../../../src/core/session/model.ts';
import { insertMessage } from '../../../src/core/store/messages.ts';
import { resetSession } from '../../../src/core/store/reset.ts';
import {
  claimRoute,
  closeRoute,
  getRoute,
  listRoutes,
  makeRoute,
  releaseRoutes,
  saveRoute,
  wasShownByPanel,
  type Route,
} from '../../../src/core/store/routes.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { openStore } from '../store/support/stores.ts';
import { aMessage, aSession } from '../store/support/values.ts';

async function addRows(store: Store, rows: readonly Partial<Session>[]): Promise<void> {
  await store.write((writer) => {
    for (const row of rows) {
      const session = aSession(row);
      insertSession(writer, session);
      insertMessage(writer, aMessage(session.id, { createdAt: session.lastActivityAt }));
    }
  });
}

async function addRoutes(store: Store, routes: readonly Partial<Route>[]): Promise<void> {
  await store.write((writer) => {
    for (const route of routes) {
      const defaults = {
        key: 'panel:p',
        sessionId: 'a',
        updatedAt: 10,
        workspaceUri: 'w',
        title: 'T',
        viewColumn: 1,
      };
      saveRoute(writer, makeRoute({ ...defaults, ...route }));
    }
  });
}

describe('The chat of a workspace', function () {
  this.timeout(30_000);
  const options: HealingOptions = { isWindowAlive: () => true, log: () => undefined };
  const find = async (store: Store, workspaceUri: string | null): Promise<string> => {
    const found = await store.write((writer) => findWorkspaceChat(writer, workspaceUri, options));
    return found.kind === 'none' ? 'none' : `${found.kind} ${found.session.id}`;
  };
  const named = (store: Store): string | undefined =>
    store.read((reader) => getRoute(reader, 'workspace:w'))?.sessionId;

  it('is the one that its route names', async () => {
    const store = await openStore();
    await addRows(store, [
      { id: 'a', workspaceUri: 'elsewhere' },
      { id: 'b', workspaceUri: 'w' },
    ]);
    await addRoutes(store, [{ key: 'workspace:w', sessionId: 'a' }]);
    assert.equal(await find(store, 'w'), 'found a');
  });

  it('is without a route the latest that was made in it, one with messages before an empty one', async () => {
    const store = await openStore();
    await addRows(store, [
      { id: 'a', workspaceUri: 'w', lastActivityAt: 3000 },
      { id: 'b', workspaceUri: 'w', lastActivityAt: 4000, endedAt: 5, endReason: 'crash' },
    ]);
    await store.write((writer) =>
      insertSession(writer, aSession({ id: 'c', workspaceUri: 'w', lastActivityAt: 9000 })),
    );
    assert.equal(await find(store, 'w'), 'found b');
    assert.equal(named(store), 'b');
  });

  it('is never adopted from another place: the most recent chat is offered and no route made', async () => {
    const store = await openStore();
    await addRows(store, [
      { id: 'a', workspaceUri: 'elsewhere', lastActivityAt: 3000 },
      { id: 'b', lastActivityAt: 4000 },
      { id: 'c', workspaceUri: 'w', endedAt: 5, endReason: 'archived', lastActivityAt: 9000 },
    ]);
    await addRoutes(store, [{ key: 'workspace:w', sessionId: 'c', origin: 'workspace:w' }]);
    assert.equal(await find(store, 'w'), 'offered b');
    assert.equal(named(store), undefined);
  });

  it('is not what was there before the last reset', async () => {
    const store = await openStore();
    await addRows(store, [{ id: 'a', workspaceUri: 'w' }]);
    await store.write((writer) =>
      resetSession(writer, {
        sessionId: 'x',
        origin: 'workspace:w',
        now: 1,
        newSession: aSession({ id: 'c', workspaceUri: 'w' }),
      }),
    );
    assert.equal(await find(store, 'w'), 'found c');
  });

  it('is the tip of a compacted chat, also when an older row of it is open', async () => {
    const store = await openStore();
    await addRows(store, [
      { id: 'a', workspaceUri: 'w', lastActivityAt: 9000 },
      { id: 'b', workspaceUri: 'w', parentId: 'a', edge: 'compaction' },
    ]);
    assert.equal(await find(store, 'w'), 'found b');
  });

  it('is looked for again when its route leads nowhere', async () => {
    const store = await openStore();
    await addRows(store, [{ id: 'a', workspaceUri: 'w' }]);
    await addRoutes(store, [{ key: 'workspace:w', sessionId: 'gone' }]);
    assert.equal(await find(store, 'w'), 'found a');
  });

  it('is none where there is no chat at all', async () => {
    assert.equal(await find(await openStore(), null), 'none');
  });
});

describe('A panel that came back without its state', function () {
  this.timeout(30_000);
  const lost: LostPanel = { workspaceUri: 'w', title: 'T', viewColumn: 1 };
  const cases: [name: string, routes: Partial<Route>[], match: string][] = [
    [
      'finds the route with its title and column',
      [{ key: 'panel:1' }, { key: 'panel:2', title: 'U' }],
      'one 1',
    ],
    [
      'prefers its column among equal titles',
      [{ key: 'panel:1', viewColumn: 2 }, { key: 'panel:2' }],
      'one 2',
    ],
    [
      'finds its title in another column, when that is the only one',
      [{ key: 'panel:1', viewColumn: 2 }],
      'one 1',
    ],
    ['lets the user choose between equals', [{ key: 'panel:1' }, { key: 'panel:2' }], 'many 1 2'],
    [
      'lets the user choose when no title fits, also if only one is left',
      [{ key: 'panel:1', title: 'U' }],
      'many 1',
    ],
    [
      'offers what fits first',
      [{ key: 'panel:1', title: 'U' }, { key: 'panel:2' }, { key: 'panel:3' }],
      'many 2 3 1',
    ],
    [
      'takes nothing that a live window shows, but what a dead one did',
      [
        { key: 'panel:1', windowId: 'live' },
        { key: 'panel:2', windowId: 'dead' },
      ],
      'one 2',
    ],
    ['takes nothing that was closed', [{ key: 'panel:1', closedAt: 5 }], 'none'],
    ['takes nothing of another workspace', [{ key: 'panel:1', workspaceUri: 'v' }], 'none'],
    ['takes no place that is not a panel', [{ key: 'workspace:w' }], 'none'],
  ];
  for (const [name, routes, expected] of cases) {
    it(name, async () => {
      const store = await openStore();
      await addRoutes(store, routes);
      const match = store.read((reader) => matchLostPanel(reader, lost, (id) => id === 'live'));
      const found = match.kind === 'one' ? [match.route] : match.kind === 'many' ? match.routes : [];
      const keys = found.map(({ key }) => key.replace('panel:', ''));
      assert.equal([match.kind, ...keys].join(' '), expected);
    });
  }

  it('and was kept before its chat had a title goes by its column alone', async () => {
    const store = await openStore();
    await addRoutes(store, [
      { key: 'panel:1', viewColumn: 2 },
      { key: 'panel:2', title: 'U' },
    ]);
    const match = store.read((reader) => matchLostPanel(reader, { ...lost, title: 'New Chat' }, () => false));
    assert.deepEqual([match.kind, match.kind === 'one' && match.route.key], ['one', 'panel:2']);
  });
});

describe('The route of a panel', function () {
  this.timeout(30_000);
  const claim = (store: Store, windowId: string, alive: readonly string[]): Promise<Route | null> =>
    store.write((writer) =>
      claimRoute(writer, { key: 'panel:p', windowId, isWindowAlive: (id) => alive.includes(id) }),
    );

  it('is claimed by one live window at a time, never robbed, and by another once that is dead or lets go', async () => {
    const store = await openStore();
    await addRoutes(store, [{}]);
    const alive = ['w1', 'w2', 'w3'];
    assert.equal((await claim(store, 'w1', alive))?.windowId, 'w1');
    assert.equal(await claim(store, 'w2', alive), null);
    assert.equal((await claim(store, 'w2', ['w2', 'w3']))?.windowId, 'w2');
    await store.write((writer) => releaseRoutes(writer, 'w2'));
    assert.equal((await claim(store, 'w3', alive))?.windowId, 'w3');
    await store.write((writer) => releaseRoutes(writer, 'w2'));
    assert.equal(store.read((reader) => getRoute(reader, 'panel:p'))?.windowId, 'w3');
    await store.write((writer) => writer.run('DELETE FROM routes'));
    assert.equal(await claim(store, 'w1', alive), null);
  });

  it('claimed again by its window changes nothing, and claiming is no activity', async () => {
    const store = await openStore();
    await addRoutes(store, [{ updatedAt: 10 }]);
    await claim(store, 'w1', ['w1']);
    const { seq } = store;
    assert.equal((await claim(store, 'w1', ['w1']))?.windowId, 'w1');
    assert.deepEqual([store.seq, store.read((reader) => getRoute(reader, 'panel:p'))?.updatedAt], [seq, 10]);
  });

  it('stays when the panel is closed, claimed by nobody, with the time of the first closing, until it is shown again', async () => {
    const store = await openStore();
    await addRoutes(store, [{ windowId: 'w1' }]);
    await store.write((writer) => closeRoute(writer, 'panel:p', 60));
    await store.write((writer) => closeRoute(writer, 'panel:p', 70));
    await store.write((writer) => closeRoute(writer, 'panel:none', 70));
    const [route] = store.read((reader) => listRoutes(reader));
    assert.deepEqual([route?.closedAt, route?.windowId], [60, null]);
    const shownAgain = await claim(store, 'w2', ['w1', 'w2']);
    assert.equal(shownAgain?.closedAt, null);
    assert.deepEqual(
      store.read((reader) => getRoute(reader, 'panel:p')),
      shownAgain,
    );
  });

  it('is remembered by its chat, also when it was there before the row and is gone', async () => {
    const store = await openStore();
    await addRoutes(store, [{ sessionId: 'a' }, { key: 'workspace:w', sessionId: 'b' }]);
    await addRows(store, [
      { id: 'a', source: 'cli' },
      { id: 'b', source: 'cli' },
    ]);
    await store.write((writer) => writer.run('DELETE FROM routes'));
    assert.deepEqual(
      store.read((reader) => ['a', 'b', 'none'].map((id) => wasShownByPanel(reader, id))),
      [true, false, false],
    );
  });
});
