import assert from 'node:assert/strict';
import { getDraft, deleteDraft, saveDraft } from '../../../src/core/store/drafts.ts';
import { getFence, isFenced, setFence } from '../../../src/core/store/fences.ts';
import {
  acquireLease,
  getLease,
  guardLease,
  isHeldByOther,
  listLeases,
  moveLease,
  releaseLease,
  takeOverLease,
  type LeaseRequest,
} from '../../../src/core/store/leases.ts';
import { deleteMemory, listMemories, saveMemory } from '../../../src/core/store/memories.ts';
import {
  addToolCall,
  appendMessageText,
  countMessages,
  finishMessage,
  getMessage,
  insertMessage,
  listMessages,
  setMessageContents,
  streamingMessages,
  supersedeMessages,
  wholeTextLength,
} from '../../../src/core/store/messages.ts';
import {
  deleteRoute,
  getRoute,
  listRoutes,
  repointRoute,
  saveRoute,
  wasShownByPanel,
  type Route,
} from '../../../src/core/store/routes.ts';
import {
  countSessions,
  endSession,
  getSession,
  insertSession,
  latestChat,
  listChats,
  listSessions,
  renameSession,
  reopenSession,
  setAutomaticTitle,
  setSessionModel,
  touchSession,
  updateSession,
} from '../../../src/core/store/sessions.ts';
import type { ReadTransaction } from '../../../src/core/store/transaction.ts';
import { addChat, openStore } from './support/stores.ts';
import { aMessage, aSession } from './support/values.ts';

describe('sessions', function () {
  this.timeout(30_000);

  it('come back whole, with the number of their first transaction', async () => {
    const store = await openStore();
    const session = aSession({
      workspaceUri: 'file:///a',
      workspaceName: 'a',
      modelId: 'm',
      parentId: 'p',
      edge: 'branch',
      pinned: true,
      title: 'T',
      titleSource: 'auto',
    });
    const seq = await store.write((writer) => {
      insertSession(writer, session);
      insertSession(writer, { ...session, title: 'a repeat changes nothing' });
      return writer.seq;
    });
    assert.deepEqual(
      store.read((reader) => getSession(reader, session.id)),
      { ...session, lastActivitySeq: seq },
    );
    assert.equal(
      store.read((reader) => getSession(reader, 'none')),
      null,
    );
    assert.equal(store.read(countSessions), 1);
  });

  it('are listed by latest activity, in pages, filtered', async () => {
    const store = await openStore();
    const ids = ['a', 'b', 'c', 'd'];
    await store.write((writer) => {
      for (const [index, id] of ids.entries()) {
        insertSession(
          writer,
          aSession({ id, createdAt: index < 2 ? 5 : index, workspaceUri: `w${index % 2}` }),
        );
        insertMessage(writer, aMessage(id, { createdAt: 0 }));
      }
      endSession(writer, 'c', 'archived', 9);
      endSession(writer, 'd', 'crash', 9);
    });
    const list = (filter: Parameters<typeof listSessions>[1]): string[] =>
      store.read((reader) => listSessions(reader, filter)).map(({ id }) => id);
    assert.deepEqual(list({ limit: 10 }), ['b', 'a', 'd', 'c']);
    assert.deepEqual(list({ limit: 2, before: { lastActivityAt: 5, id: 'b' } }), ['a', 'd']);
    assert.deepEqual(list({ limit: 10, archived: true }), ['c']);
    assert.deepEqual(list({ limit: 10, archived: false, workspaceUri: 'w1' }), ['b', 'd']);
    assert.equal(store.read((reader) => latestChat(reader, 'w0'))?.id, 'a');
    assert.equal(store.read((reader) => latestChat(reader, null))?.id, 'b');
    assert.equal(
      store.read((reader) => latestChat(reader, 'elsewhere')),
      null,
    );
  });

  it('are listed without looking through any table, however many there are', async () => {
    const store = await openStore();
    await addChat(store, ['Hello']);
    const planOf = (archived: boolean): string[] => {
      const plan: string[] = [];
      store.read((reader) => {
        const explain: ReadTransaction = {
          readBlob: (reference) => reader.readBlob(reference),
          get: (sql, parameters) => reader.get(sql, parameters),
          all(sql, parameters) {
            const rows = reader.all(`EXPLAIN QUERY PLAN ${sql}`, parameters);
            plan.push(...rows.map((row) => String(row['detail'])));
            return reader.all(sql, parameters);
          },
        };
        listChats(explain, { archived, limit: 1 });
      });
      return plan.filter((step) => step.startsWith('SCAN') || step.startsWith('USE TEMP'));
    };
    assert.deepEqual(planOf(false), ['SCAN s USING INDEX sessions_by_activity']);
    assert.deepEqual(planOf(true), ['SCAN s USING INDEX sessions_archived']);
  });

  it('say whether they hold a draft', async () => {
    const store = await openStore();
    const session = await addChat(store, ['Hello']);
    const draft = { text: 'typed', caret: 3, scroll: null, editedAt: 7 };
    await store.write((writer) => saveDraft(writer, { key: 'k', sessionId: session.id, draft }));
    const hasDraft = (): boolean[] =>
      store.read((reader) => listChats(reader, { limit: 9 })).map((row) => row.hasDraft);
    assert.deepEqual(hasDraft(), [true]);
    assert.deepEqual(
      store.read((reader) => getDraft(reader, 'k')),
      { key: 'k', sessionId: session.id, draft },
    );
    await store.write((writer) => deleteDraft(writer, 'k'));
    assert.deepEqual(hasDraft(), [false]);
  });

  it('keep their first reason, but archive overrides cleanup, and reopen clears both', async () => {
    const store = await openStore();
    const { id } = await addChat(store);
    const end = (reason: Parameters<typeof endSession>[2]): Promise<boolean> =>
      store.write((writer) => endSession(writer, id, reason, 50));
    const reason = (): unknown => store.read((reader) => getSession(reader, id))?.endReason;
    assert.equal(await end('crash'), true);
    assert.equal(await end('idle_timeout'), false);
    assert.equal(reason(), 'crash');
    assert.equal(await end('archived'), true);
    assert.equal(await end('compaction'), false);
    assert.equal(reason(), 'archived');
    await store.write((writer) => reopenSession(writer, id));
    const { endReason, endedAt } = store.read((reader) => getSession(reader, id)) ?? {};
    assert.deepEqual({ endReason, endedAt }, { endReason: null, endedAt: null });
    await assert.rejects(
      store.write((writer) => endSession(writer, 'none', 'archived', 1)),
      { reason: 'unknown_session' },
    );
  });

  it('never lose a title that the user chose', async () => {
    const store = await openStore();
    const { id } = await addChat(store);
    assert.equal(await store.write((writer) => setAutomaticTitle(writer, id, 'automatic')), true);
    await store.write((writer) => renameSession(writer, id, 'mine'));
    assert.equal(await store.write((writer) => setAutomaticTitle(writer, id, 'again')), false);
    await store.write((writer) => {
      setSessionModel(writer, id, 'model');
      updateSession(writer, id, { pinned: true });
      touchSession(writer, id, 1);
    });
    const { title, titleSource, modelId, pinned, lastActivityAt, lastActivitySeq } =
      store.read((reader) => getSession(reader, id)) ?? {};
    assert.deepEqual(
      { title, titleSource, modelId, pinned, lastActivityAt, lastActivitySeq },
      {
        title: 'mine',
        titleSource: 'user',
        modelId: 'model',
        pinned: true,
        lastActivityAt: 1000,
        lastActivitySeq: store.seq,
      },
    );
  });
});

describe('messages', function () {
  this.timeout(30_000);

  it('come back whole, numbered in their session, and keep its count, preview and activity', async () => {
    const store = await openStore();
    const session = await addChat(store);
    const first = aMessage(session.id, { text: '  \n', createdAt: 3000 });
    const second = aMessage(session.id, {
      role: 'assistant',
      status: 'error',
      text: 'answer',
      reasoning: 'thought',
      toolCalls: [{ id: 'c', name: 'find', arguments: '{' }],
      toolCallId: 'x',
      toolName: 'y',
      problem: { reason: 'r', message: 'm' },
      active: false,
      copyOf: 'o',
      createdAt: 2000,
      finishedAt: 4000,
      modelId: 'm',
      usage: { inputTokens: 1, outputTokens: 2 },
    });
    const third = aMessage(session.id, { text: 'What is this?\nMore', createdAt: 2500 });
    const seqs = await store.write((writer) =>
      [first, second, third, second].map((message) => insertMessage(writer, message)),
    );
    assert.deepEqual(seqs, [1, 2, 3, 2]);
    assert.deepEqual(
      store.read((reader) => listMessages(reader, session.id)),
      [first, second, third].map((message, index) => ({ ...message, seq: index + 1 })),
    );
    const { messageCount, preview, lastActivityAt, lastActivitySeq } =
      store.read((reader) => getSession(reader, session.id)) ?? {};
    assert.deepEqual(
      { messageCount, preview, lastActivityAt, lastActivitySeq },
      { messageCount: 3, preview: 'What is this?', lastActivityAt: 3000, lastActivitySeq: store.seq },
    );
    assert.deepEqual(
      store
        .read((reader) => listMessages(reader, session.id, { before: 3, limit: 1 }))
        .map((message) => message.seq),
      [2],
    );
    assert.deepEqual(
      [
        store.read((reader) => countMessages(reader, session.id)),
        store.read((reader) => countMessages(reader)),
      ],
      [3, 3],
    );
  });

  it('grow while they stream, and no longer', async () => {
    const store = await openStore();
    const session = await addChat(store);
    const message = aMessage(session.id, { role: 'assistant', status: 'streaming', text: '' });
    await store.write((writer) => insertMessage(writer, message));
    await store.write((writer) => appendMessageText(writer, message.id, 'one ', 'why'));
    await store.write((writer) => appendMessageText(writer, message.id, '👍'));
    const call = { id: 'c', name: 'find', arguments: '{}' };
    await store.write((writer) => {
      addToolCall(writer, message.id, call);
      addToolCall(writer, message.id, call);
    });
    assert.deepEqual(
      store.read(streamingMessages).map(({ id }) => id),
      [message.id],
    );
    const end = {
      status: 'complete',
      problem: null,
      usage: { inputTokens: 5, outputTokens: 7 },
      finishedAt: 9000,
    } as const;
    await store.write((writer) => finishMessage(writer, message.id, end));
    await store.write((writer) => finishMessage(writer, message.id, end));
    assert.equal(await store.write((writer) => appendMessageText(writer, message.id, 'late')), false);
    assert.deepEqual(
      store.read((reader) => getMessage(reader, message.id)),
      { ...message, ...end, seq: 1, text: 'one 👍', reasoning: 'why', toolCalls: [call] },
    );
    assert.deepEqual(store.read(streamingMessages), []);
    const { inputTokens, outputTokens, lastActivityAt } =
      store.read((reader) => getSession(reader, session.id)) ?? {};
    assert.deepEqual(
      { inputTokens, outputTokens, lastActivityAt },
      { inputTokens: 5, outputTokens: 7, lastActivityAt: 9000 },
    );
    await store.write((writer) => {
      supersedeMessages(writer, [message.id]);
      setMessageContents(writer, message.id, { text: 'whole', reasoning: '', toolCalls: [] });
    });
    const { active, text } = store.read((reader) => getMessage(reader, message.id)) ?? {};
    assert.deepEqual({ active, text }, { active: false, text: 'whole' });
  });

  it('are never cut inside a character', async () => {
    const store = await openStore();
    const session = await addChat(store);
    const message = aMessage(session.id, { role: 'assistant', status: 'streaming', text: '' });
    await store.write((writer) => insertMessage(writer, message));
    const text = 'a👍';
    assert.deepEqual([wholeTextLength(text), wholeTextLength(text.slice(0, 2))], [3, 1]);
    for (const piece of [text.slice(0, 2), text.slice(2)]) {
      await assert.rejects(
        store.write((writer) => appendMessageText(writer, message.id, piece)),
        { reason: 'invalid_value' },
      );
    }
  });
});

describe('leases', function () {
  this.timeout(30_000);

  it('belong to one live runtime, with an epoch that only grows', async () => {
    const store = await openStore();
    const alive = new Set(['w1', 'w2']);
    const request = (runtimeId: string, windowId: string): LeaseRequest => ({
      sessionId: 's',
      runtimeId,
      windowId,
      now: 1,
      isWindowAlive: (id) => alive.has(id),
    });
    const first = await store.write((writer) => acquireLease(writer, request('r1', 'w1')));
    assert.deepEqual(await store.write((writer) => acquireLease(writer, request('r1', 'w1'))), first);
    await assert.rejects(
      store.write((writer) => acquireLease(writer, request('r2', 'w2'))),
      { reason: 'session_not_owned' },
    );
    assert.equal(
      store.read((reader) => isHeldByOther(reader, 's', 'r2', (id) => alive.has(id))),
      true,
    );
    alive.delete('w1');
    const second = await store.write((writer) => acquireLease(writer, request('r2', 'w2')));
    assert.equal(second.epoch, 2);
    assert.throws(() => store.read((reader) => guardLease(reader, first)), { reason: 'session_not_owned' });
    store.read((reader) => guardLease(reader, second));
    await store.write((writer) => releaseLease(writer, first));
    assert.equal(store.read(listLeases).length, 1);
    const third = await store.write((writer) => takeOverLease(writer, request('r3', 'w3')));
    await store.write((writer) => releaseLease(writer, third));
    assert.deepEqual(store.read(listLeases), []);
    const fourth = await store.write((writer) => acquireLease(writer, request('r1', 'w1')));
    assert.equal(fourth.epoch, 4);
    const moved = await store.write((writer) => moveLease(writer, fourth, 'child', 2));
    assert.deepEqual(
      [moved.sessionId, store.read((reader) => getLease(reader, 's'))?.isHeld],
      ['child', false],
    );
  });
});

describe('routes, fences, memories', function () {
  this.timeout(30_000);

  it('a route comes back, moves by compare-and-swap, and the session remembers that a panel showed it', async () => {
    const store = await openStore();
    const session = await addChat(store);
    const other = await addChat(store);
    const route: Route = {
      key: 'panel:1',
      sessionId: session.id,
      origin: 'o',
      workspaceUri: 'w',
      viewColumn: 2,
      title: 'T',
      modelOverride: 'm',
      resumePending: true,
      updatedAt: 5,
      closedAt: null,
      windowId: 'w1',
    };
    const shown = (id: string): boolean => store.read((reader) => wasShownByPanel(reader, id));
    await store.write((writer) => saveRoute(writer, { ...route, key: 'workspace:w' }));
    assert.equal(shown(session.id), false);
    await store.write((writer) => saveRoute(writer, route));
    assert.deepEqual(
      store.read((reader) => [getRoute(reader, 'panel:1'), getRoute(reader, 'panel:2')]),
      [route, null],
    );
    assert.equal(await store.write((writer) => repointRoute(writer, 'panel:1', other.id, 'x', 6)), false);
    assert.equal(
      await store.write((writer) => repointRoute(writer, 'panel:1', session.id, other.id, 6)),
      true,
    );
    assert.deepEqual(
      store.read((reader) => listRoutes(reader, { origin: 'o', workspaceUri: 'w' })).map(({ key }) => key),
      ['panel:1', 'workspace:w'],
    );
    await store.write((writer) => deleteRoute(writer, 'panel:1'));
    assert.deepEqual([shown(session.id), shown(other.id)], [true, true]);
  });

  it('a fence refuses what was last active before it', async () => {
    const store = await openStore();
    const session = await addChat(store);
    const before = store.read((reader) => getSession(reader, session.id))?.lastActivitySeq ?? 0;
    const seq = await store.write((writer) => (setFence(writer, 'place'), writer.seq));
    assert.deepEqual(
      store.read((reader) => [
        getFence(reader, 'place'),
        isFenced(reader, 'place', before),
        isFenced(reader, 'place', seq),
        isFenced(reader, 'elsewhere', before),
      ]),
      [seq, true, false, false],
    );
  });

  it('memories belong to a workspace or hold everywhere', async () => {
    const store = await openStore();
    const memory = {
      id: '1',
      workspaceUri: null,
      text: 'a',
      sourceSessionId: null,
      createdAt: 1,
      updatedAt: 1,
    };
    await store.write((writer) => {
      saveMemory(writer, memory);
      saveMemory(writer, { ...memory, id: '2', workspaceUri: 'w' });
      saveMemory(writer, { ...memory, id: '3', workspaceUri: 'v' });
      deleteMemory(writer, '4');
    });
    assert.deepEqual(
      store.read((reader) => listMemories(reader, 'w')),
      [memory, { ...memory, id: '2', workspaceUri: 'w' }],
    );
  });
});
