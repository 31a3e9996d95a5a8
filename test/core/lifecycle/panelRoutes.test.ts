/** What a panel is known by when its own state is lost. */
import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import { PanelRoutes } from '../../../src/core/runtime/panelRoutes.ts';
import type { Session } from '../../../src/core/session/model.ts';
import { getRoute, listRoutes, makeRoute, saveRoute, type Route } from '../../../src/core/store/routes.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import { aSession } from '../store/support/values.ts';
import { World, type LiveWindow } from './world.ts';

const place = { title: 'ignored', viewColumn: 2 };

describe('The routes of panels', function () {
  this.timeout(30_000);
  let world: World;
  let window: LiveWindow;
  let routes: PanelRoutes;
  let now = 0;
  beforeEach(async () => {
    world = new World();
    window = await world.start();
    now = 100;
    routes = routesOf(window);
  });
  afterEach(() => world.close());

  it('say what a panel shows and under which title, and that this is the chat of the workspace', async () => {
    const session = await stored({ title: 'Bicycles' });
    await routes.record('p', session, place);
    assert.deepEqual(route('panel:p'), {
      ...makeRoute({ key: 'panel:p', sessionId: session.id, updatedAt: 100 }),
      origin: 'panel:p',
      workspaceUri: 'file:///w',
      viewColumn: 2,
      title: 'Bicycles',
      windowId: window.id,
    });
    assert.deepEqual(route('workspace:file:///w'), {
      ...makeRoute({ key: 'workspace:file:///w', sessionId: session.id, updatedAt: 100 }),
      origin: 'workspace:file:///w',
      workspaceUri: 'file:///w',
    });
  });

  it('are not written for a chat that is not stored, nor again for what they say already', async () => {
    await routes.record('p', aSession(), place);
    assert.deepEqual(
      window.store.read((reader) => listRoutes(reader)),
      [],
    );
    const session = await stored();
    await routes.record('p', session, place);
    const { seq } = window.store;
    now = 200;
    await routes.record('p', session, place);
    assert.equal(window.store.seq, seq);
  });

  const changes: [string, (session: Session) => Promise<void>, Partial<Route>][] = [
    [
      'another column',
      (session) => routes.record('p', session, { ...place, viewColumn: 1 }),
      { viewColumn: 1 },
    ],
    ['another title', (session) => routes.record('p', { ...session, title: 'New' }, place), { title: 'New' }],
    [
      'another window',
      async (session) => routesOf(await world.start()).record('p', session, place),
      { viewColumn: 2 },
    ],
    [
      'its being open again',
      async (session) => {
        await routes.closed('p');
        await routes.record('p', session, place);
      },
      { closedAt: null },
    ],
  ];
  for (const [name, change, expected] of changes) {
    it(`follow ${name}`, async () => {
      const session = await stored({ title: 'Old' });
      await routes.record('p', session, place);
      now = 200;
      await change(session);
      const { updatedAt, ...changed } = route('panel:p') ?? {};
      assert.equal(updatedAt, 200);
      assert.deepEqual({ ...changed, ...expected }, changed);
    });
  }

  it('of panel and workspace move with what is shown', async () => {
    const [one, two] = [await stored(), await stored()];
    await routes.record('p', one, place);
    now = 200;
    await routes.record('p', two, place);
    assert.deepEqual(
      window.store
        .read((reader) => listRoutes(reader))
        .map(({ key, sessionId, updatedAt }) => [key, sessionId, updatedAt]),
      [
        ['panel:p', two.id, 200],
        ['workspace:file:///w', two.id, 200],
      ],
    );
  });

  it('are claimed by the window that restores the panel, unless a live one shows it; one that is not there yet is free', async () => {
    assert.equal(await routes.claim('new'), true);
    assert.deepEqual(
      window.store.read((reader) => listRoutes(reader)),
      [],
    );
    await routes.record('p', await stored(), place);
    const other = await world.start();
    assert.equal(await routesOf(other).claim('p'), false);
    window.kill([]);
    const third = await world.start();
    assert.equal(await routesOf(third).claim('p'), true);
    assert.equal(third.store.read((reader) => getRoute(reader, 'panel:p'))?.windowId, third.id);
  });

  it('are free once their window goes, and remember when their panel was closed', async () => {
    await routes.record('p', await stored(), place);
    await routes.record('q', await stored(), place);
    now = 300;
    await routes.closed('p');
    await routes.release();
    assert.deepEqual(
      [route('panel:p'), route('panel:q')].map((found) => [found?.closedAt, found?.windowId]),
      [
        [300, null],
        [null, null],
      ],
    );
  });

  it('tell which panels were open when their window died: only those of the workspace, not closed, not let go, not live', async () => {
    const session = await stored();
    const dead = await world.start();
    const add = (key: string, overrides: Partial<Route>): Promise<void> =>
      window.store.write((writer) =>
        saveRoute(
          writer,
          makeRoute({
            key,
            sessionId: session.id,
            workspaceUri: 'file:///w',
            windowId: dead.id,
            updatedAt: 1,
            ...overrides,
          }),
        ),
      );
    await add('panel:orphan', {});
    await add('panel:closed', { closedAt: 1 });
    await add('panel:free', { windowId: null });
    await add('panel:live', { windowId: window.id });
    await add('panel:elsewhere', { workspaceUri: 'file:///v' });
    await add('workspace:w', {});
    assert.deepEqual(routes.orphans(), []);
    dead.kill([]);
    assert.deepEqual(
      routes.orphans().map(({ key }) => key),
      ['panel:orphan'],
    );
  });

  it('find the panel whose title and column are all that is left, in this workspace', async () => {
    const session = await stored({ title: 'Bicycles' });
    await routes.record('p', session, place);
    const other = await world.start();
    const lost = { title: 'Bicycles', viewColumn: 2 };
    assert.equal((await routesOf(other).match(lost, 0)).kind, 'none', 'a live window shows it');
    await routes.release();
    assert.equal((await routesOf(other).match(lost, 0)).kind, 'one');
    const elsewhere = new PanelRoutes({ store: other.store, workspaceUri: 'file:///v', now: () => now });
    assert.equal((await elsewhere.match(lost, 0)).kind, 'none');
  });

  it('wait for the panel that fits while the window before the reload still shows it, but not for any other', async () => {
    await routes.record('p', await stored({ title: 'Bicycles' }), place);
    const next = routesOf(await world.start());
    const found = next.match({ title: 'Bicycles', viewColumn: 2 }, 20_000);
    const other = next.match({ title: 'Trains', viewColumn: 2 }, 20_000);
    assert.equal((await other).kind, 'none');
    await routes.release();
    assert.equal((await found).kind, 'one');
  });

  function routesOf({ store }: LiveWindow): PanelRoutes {
    return new PanelRoutes({ store, workspaceUri: 'file:///w', now: () => now });
  }

  async function stored(overrides: Partial<Session> = {}): Promise<Session> {
    const session = aSession({ id: ulid(), ...overrides });
    await window.store.write((writer) => insertSession(writer, session));
    return session;
  }

  function route(key: string): Route | null {
    return window.store.read((reader) => getRoute(reader, key));
  }
});
