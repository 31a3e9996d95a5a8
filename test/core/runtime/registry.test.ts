/** When runtimes are given back, and what must never be taken. Time passes when the test says so. */
import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import { ownerCheckMs } from '../../../src/core/runtime/ownerWatch.ts';
import type { ChatRuntime } from '../../../src/core/runtime/chatRuntime.ts';
import type { ReclaimedPayload } from '../../../src/core/runtime/hooks.ts';
import { RefusedError } from '../../../src/core/runtime/problems.ts';
import { getFence } from '../../../src/core/store/fences.ts';
import { listMessages } from '../../../src/core/store/messages.ts';
import { getSession, listChats } from '../../../src/core/store/sessions.ts';
import { Kit, newChat, RecordingViewer, type Window } from './kit.ts';

const minute = 60_000;

describe('The registry of runtimes', () => {
  let kit: Kit;
  let window: Window;
  let reclaimed: ReclaimedPayload[];
  beforeEach(async () => {
    kit = new Kit();
    window = await kit.window({ limits: { maximumRuntimes: 3 } });
    reclaimed = [];
    window.hooks.onReclaimed((payload) => reclaimed.push(payload));
  });
  afterEach(() => kit.close());

  it('gives a runtime back at once when its last panel is closed and nothing runs', async () => {
    const { runtime, viewer } = await answered();
    const second = new RecordingViewer();
    window.registry.attach(runtime, second);
    await window.registry.detach(runtime, viewer, 'disposed');
    assert.deepEqual(reasons(), []);
    await window.registry.detach(runtime, second, 'disposed');
    assert.deepEqual([reasons(), endReason(runtime)], [['panel_closed'], null]);
  });

  it('shows one chat in two panels of a window through one runtime', async () => {
    const { runtime } = await answered();
    assert.equal(await window.registry.open(runtime.session.id), runtime);
    assert.equal(window.registry.size, 1);
  });

  it('lets the answer of a closed panel finish, stores it, and reaps the runtime 20 s later', async () => {
    const { runtime, viewer } = await running();
    await window.registry.detach(runtime, viewer, 'disposed');
    window.timers.pass(10 * minute);
    assert.deepEqual(reasons(), []);
    kit.model.answer(' and done.');
    await until(() => !runtime.isRunning && !runtime.hasUnwritten);
    window.timers.pass(19_999);
    await settled();
    assert.deepEqual(reasons(), []);
    window.timers.pass(1);
    await until(() => reclaimed.length > 0);
    assert.deepEqual(
      [reasons(), endReason(runtime), text(runtime)],
      [['orphan_reap'], null, 'Begun and done.'],
    );
  });

  it('keeps a runtime whose panel came back within the grace time, whatever timer was pending', async () => {
    const { runtime, viewer } = await answered();
    await window.registry.detach(runtime, viewer, 'lost');
    window.timers.pass(19_000);
    const back = new RecordingViewer();
    window.registry.attach(runtime, back);
    window.timers.pass(minute);
    await settled();
    assert.deepEqual(reasons(), []);
    await window.registry.detach(runtime, back, 'lost');
    window.timers.pass(19_999);
    await settled();
    assert.deepEqual(reasons(), [], 'the grace time starts anew');
    window.timers.pass(1);
    await until(() => reclaimed.length > 0);
    assert.deepEqual(reasons(), ['orphan_reap']);
  });

  it('gives an idle runtime back, and its hidden panel finds the chat again when it is shown', async () => {
    const { runtime, viewer } = await answered();
    viewer.visible = false;
    window.timers.pass(30 * minute);
    await until(() => reclaimed.length > 0);
    assert.deepEqual([reasons(), viewer.reclaims, endReason(runtime)], [['idle_timeout'], 1, null]);
    const again = await window.registry.open(runtime.session.id);
    assert.notEqual(again, runtime);
    assert.deepEqual(again.state.messages, runtime.state.messages);
  });

  it('never takes a runtime that is visible or runs, however long it does nothing', async () => {
    const { viewer } = await answered();
    const busy = await running();
    busy.viewer.visible = false;
    window.timers.pass(24 * 60 * minute);
    await settled();
    assert.deepEqual([reasons(), viewer.reclaims], [[], 0]);
    kit.model.answer('');
  });

  it('counts use as activity', async () => {
    const { runtime, viewer } = await answered();
    viewer.visible = false;
    window.timers.pass(29 * minute);
    window.registry.used(runtime);
    window.timers.pass(29 * minute);
    await settled();
    assert.deepEqual(reasons(), []);
  });

  it('evicts the one unused for longest when there are too many, but none that is seen or runs', async () => {
    const busy = await running();
    busy.viewer.visible = false;
    const seen = await emptyChat();
    const oldest = await emptyChat();
    oldest.viewer.visible = false;
    window.timers.pass(5);
    await emptyChat();
    await until(() => reclaimed.length > 0);
    assert.deepEqual(
      reclaimed.map(({ sessionId, reason }) => [sessionId, reason]),
      [[oldest.runtime.session.id, 'lru_evict']],
    );
    assert.equal(seen.viewer.reclaims, 0);
    kit.model.answer('');
  });

  it('stops the running answer when the window goes, keeps its text and ends nothing', async () => {
    const { runtime } = await running();
    await window.registry.shutDown();
    const other = await kit.window();
    const again = await other.registry.open(runtime.session.id);
    const last = again.state.messages.at(-1);
    assert.deepEqual([last?.status, last?.text, again.session.endReason], ['interrupted', 'Begun', null]);
    assert.deepEqual(reasons(), ['host_shutdown']);
  });

  it('archives while an answer streams: stops first, keeps the text, then ends; the panel shows it read-only', async () => {
    const { runtime, viewer } = await running();
    await window.registry.archive(runtime.session.id);
    const stored = window.store.read((reader) => listMessages(reader, runtime.session.id)).at(-1);
    assert.deepEqual(
      [stored?.status, stored?.text, endReason(runtime)],
      ['interrupted', 'Begun', 'archived'],
    );
    assert.equal(viewer.reclaims, 1);
    const again = await window.registry.open(runtime.session.id);
    window.registry.attach(again, viewer);
    await window.registry.detach(again, viewer, 'disposed');
    assert.equal(endReason(runtime), 'archived', 'reading and closing change nothing');
  });

  it('archives what another window streams: its text so far lands, its next write is refused, nothing reopens', async () => {
    const { runtime, viewer } = await running();
    const other = await kit.window();
    await other.registry.archive(runtime.session.id);
    kit.model.play({ type: 'text', text: ' more' });
    await viewer.shows((state) => state.session.endReason === 'archived' && state.turn === null);
    await runtime.flush();
    await settled();
    const stored = other.store.read((reader) => listMessages(reader, runtime.session.id)).at(-1);
    assert.deepEqual([stored?.status, stored?.text], ['interrupted', 'Begun']);
    assert.equal(endReason(runtime), 'archived');
    await assert.rejects(runtime.send(ulid(), 'Go on'), RefusedError);
  });

  it('refuses to archive a chat that is empty, with words', async () => {
    const { runtime } = await emptyChat();
    await assert.rejects(window.registry.archive(runtime.session.id), /nothing to archive/);
  });

  it('archives and starts new in the same place: one ends and is fenced, the other is there', async () => {
    const { runtime } = await answered();
    const id = ulid();
    const place = { workspaceUri: null, workspaceName: null, modelId: 'offline' };
    const created = await window.registry.archiveAndStartNew(runtime.session.id, 'panel:x', { id, ...place });
    assert.deepEqual(
      [created.id, created.parentId, created.edge, created.endReason, endReason(runtime)],
      [id, runtime.session.id, 'reset', null, 'session_reset'],
    );
    const fence = window.store.read((reader) => getFence(reader, 'panel:x'));
    assert.ok(fence !== null && fence > runtime.session.lastActivitySeq);
    await assert.rejects((await window.registry.open(runtime.session.id)).send(ulid(), 'Still?'), /archived/);
  });

  it('lets a second window follow a chat that the first one writes, and take it on when that one is gone', async () => {
    const { runtime } = await running();
    let isFirstAlive = true;
    const other = await kit.window({ isWindowAlive: () => isFirstAlive });
    const mirror = await other.registry.open(runtime.session.id);
    const viewer = new RecordingViewer();
    other.registry.attach(mirror, viewer);
    assert.equal(viewer.state?.owner, 'elsewhere');
    await assert.rejects(mirror.send(ulid(), 'Me too'), /another window/);
    kit.model.play({ type: 'text', text: ' and followed' });
    await viewer.shows((state) => state.messages.at(-1)?.text === 'Begun and followed');
    isFirstAlive = false; // nothing of it is released, and its process id is another process's now: a glance shows nothing
    other.timers.pass(ownerCheckMs - 1);
    assert.equal(viewer.state.owner, 'elsewhere');
    other.timers.pass(1);
    await viewer.shows((state) => state.owner === 'here' && state.messages.at(-1)?.status === 'interrupted');
    await mirror.send(ulid(), 'Now me');
    kit.model.play({ type: 'text', text: 'x' });
    await assert.rejects(runtime.own(), /Another window/);
  });

  it('goes on in the child after a compaction: one chat in the list, whole transcript, same runtime', async () => {
    const { runtime, viewer } = await answered();
    for (let turn = 0; turn < 6; turn++) {
      await runtime.send(ulid(), `Question ${turn} ${'long words '.repeat(600)}`);
      kit.model.answer(`Answer ${turn}`);
      await viewer.shows((state) => state.turn === null && state.messages.at(-1)?.text === `Answer ${turn}`);
    }
    const before = runtime.session.id;
    const shown = runtime.state.messages.map((message) => message.id);
    await window.registry.compact(before);
    assert.notEqual(runtime.session.id, before);
    assert.equal(await window.registry.open(before), runtime, 'the old id leads to the tip');
    await runtime.send(ulid(), 'And now?');
    kit.model.answer('Still here.');
    await viewer.shows((state) => state.turn === null && state.messages.at(-1)?.text === 'Still here.');
    const asked = kit.model.requests.at(-1)?.messages ?? [];
    assert.match(asked[0]?.text ?? '', /^Summary of the conversation so far/);
    const listed = window.store
      .read((reader) => listChats(reader, { limit: 10 }))
      .map(({ session }) => session.id);
    assert.deepEqual(listed, [runtime.session.id]);
    await window.registry.shutDown();
    const later = await kit.window();
    const reopened = await later.registry.open(before);
    const visible = reopened.state.messages.filter(
      (message) => message.copyOf === null && message.role !== 'summary',
    );
    assert.deepEqual(
      visible.slice(0, shown.length).map((message) => message.id),
      shown,
    );
    assert.deepEqual(
      visible.slice(shown.length).map((message) => message.text),
      ['And now?', 'Still here.'],
    );
  });

  function emptyChat(): Promise<{ runtime: ChatRuntime; viewer: RecordingViewer }> {
    return newChat(window);
  }

  async function answered(): Promise<{ runtime: ChatRuntime; viewer: RecordingViewer }> {
    const chat = await newChat(window);
    await chat.runtime.send(ulid(), 'Hello');
    kit.model.answer('Hi');
    await chat.viewer.shows((state) => state.turn === null && state.unsaved.length === 0);
    return chat;
  }

  async function running(): Promise<{ runtime: ChatRuntime; viewer: RecordingViewer }> {
    const chat = await newChat(window);
    await chat.runtime.send(ulid(), 'Go');
    kit.model.play({ type: 'text', text: 'Begun' });
    await chat.viewer.shows((state) => state.messages.at(-1)?.text === 'Begun');
    await chat.runtime.flush();
    return chat;
  }

  function reasons(): string[] {
    return reclaimed.map(({ reason }) => reason);
  }

  function endReason(runtime: ChatRuntime): string | null {
    return window.store.read((reader) => getSession(reader, runtime.session.id))?.endReason ?? null;
  }

  function text(runtime: ChatRuntime): string | undefined {
    return window.store.read((reader) => listMessages(reader, runtime.session.id)).at(-1)?.text;
  }
});

/** Lets what was started come to its end: the store's syncs are real. */
async function settled(): Promise<void> {
  for (let round = 0; round < 20; round++) await new Promise(setImmediate);
}

async function until(condition: () => boolean): Promise<void> {
  const start = performance.now();
  while (!condition()) {
    assert.ok(performance.now() - start < 5000, `waited in vain: ${condition.toString()}`);
    await new Promise(setImmediate);
  }
}
