/** A chat of another folder: another window writes it, and nothing of that folder is ours to change. */
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ulid } from 'ulid';
import type { ChatRuntime } from '../../../src/core/runtime/chatRuntime.ts';
import { FollowedChat } from '../../../src/core/runtime/followedChat.ts';
import { runCheckpoint } from '../../../src/core/store/checkpoint.ts';
import { nodeFiles } from '../../../src/core/store/fileLayer.ts';
import { loadEngine } from '../../../src/core/store/openDatabase.ts';
import { emptyDraft, type Session } from '../../../src/core/session/model.ts';
import { getSession, updateSession } from '../../../src/core/store/sessions.ts';
import { Store } from '../../../src/core/store/store.ts';
import { followOtherFolder } from '../../../src/core/store/transfer/otherFolder.ts';
import { addChat, addText, makeFolder, openStore, until } from '../store/support/stores.ts';
import { wasmFile } from '../store/support/values.ts';
import { Kit, newChat, RecordingViewer, type Window } from './kit.ts';

function contents(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.\w+$/.test(name),
  );
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'latin1')]));
}

describe('A chat of another folder', () => {
  let kit: Kit;
  let window: Window;
  let runtime: ChatRuntime;
  let other: Store;
  const told: Session[] = [];

  beforeEach(async () => {
    kit = new Kit();
    window = await kit.window();
    ({ runtime } = await newChat(window));
    await say('Go', 'Gone');
    other = await follow(kit.folder);
    told.length = 0;
  });
  afterEach(async () => {
    await other.close();
    await kit.close();
  });

  /** As the extension does, and as soon as the machine allows. */
  async function follow(folder: string): Promise<Store> {
    const store = await followOtherFolder(folder, { wasm: wasmFile, log: () => undefined });
    store.follow(5);
    return store;
  }

  async function say(prompt: string, answer: string): Promise<void> {
    await runtime.send(ulid(), prompt);
    kit.model.answer(answer);
    await runtime.answered();
  }

  async function writeIn<T>(folder: string, use: (store: Store) => Promise<T>): Promise<T> {
    const store = await Store.open({ folder, wasm: wasmFile, checkpointWorkerFile: null, windowId: ulid() });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  }

  function show(sessionId = runtime.session.id): { chat: FollowedChat; viewer: RecordingViewer } {
    const onChange = (session: Session): void => void told.push(session);
    const chat = new FollowedChat({ store: other, sessionId, runtimeId: 'shown', onChange });
    const viewer = new RecordingViewer();
    chat.attach(viewer);
    return { chat, viewer };
  }

  const texts = (viewer: RecordingViewer): string[] => viewer.state?.messages.map(({ text }) => text) ?? [];

  it('shows an answer while another window streams it, as events, and does not change a byte itself', async () => {
    const { viewer } = show();
    assert.deepEqual(
      [texts(viewer), viewer.state?.folder, viewer.state?.owner],
      [['Go', 'Gone'], kit.folder, 'elsewhere'],
    );
    await runtime.send(ulid(), 'More');
    kit.model.play({ type: 'text', text: 'Begun' });
    await viewer.shows((state) => state.messages.at(-1)?.text === 'Begun');
    kit.model.play({ type: 'text', text: ' and ended' }, { type: 'finish', usage: null });
    await viewer.shows((state) => state.messages.at(-1)?.status === 'complete');
    assert.deepEqual(texts(viewer), ['Go', 'Gone', 'More', 'Begun and ended']);
    assert.equal(viewer.received.filter(({ type }) => type === 'snapshot').length, 1);

    await window.registry.shutDown();
    await window.store.close();
    const before = contents(kit.folder);
    const again = await follow(kit.folder);
    again.read(() => undefined);
    await again.close();
    await assert.rejects(
      other.write(() => undefined),
      { reason: 'read_only' },
    );
    assert.deepEqual(contents(kit.folder), before);
  });

  it('shows another title, and goes on where another window compacted it', async () => {
    const { chat, viewer } = show();
    const { id } = runtime.session;
    await window.store.write((writer) => updateSession(writer, id, { title: 'Brakes', titleSource: 'user' }));
    await viewer.shows((state) => state.session.title === 'Brakes');
    assert.deepEqual(
      told.map(({ title }) => title),
      ['Brakes'],
    );
    for (let turn = 0; turn < 6; turn++)
      await say(`Question ${turn} ${'long words '.repeat(600)}`, `Answer ${turn}`);
    await window.registry.compact(id);
    await viewer.shows((state) => state.session.id === runtime.session.id);
    assert.notEqual(chat.session.id, id);
    assert.equal(told.at(-1)?.id, chat.session.id);
    await say('And now?', 'As before');
    await viewer.shows((state) => state.messages.at(-1)?.text === 'As before');
    assert.deepEqual(new Set(told.map(({ title }) => title)), new Set(['Brakes']));
  });

  it('tells nobody of what happens to other chats', async () => {
    const { viewer } = show();
    const before = viewer.received.length;
    const beside = await addChat(window.store, ['beside']);
    await until(() => other.read((reader) => getSession(reader, beside.id)) !== null);
    assert.deepEqual([viewer.received.length, told], [before, []]);
  });

  it('is shown whole, however large and long, with the model it is bound to and an empty composer', async () => {
    const large = 'large '.repeat(60_000);
    const texts = [...Array.from({ length: 100 }, (_, index) => `${index}`), large];
    const long = await addChat(window.store, texts);
    const { chat, viewer } = show(long.id);
    const [snapshot] = viewer.received;
    assert.ok(snapshot?.type === 'snapshot');
    assert.deepEqual([snapshot.runtimeId, snapshot.draft], ['shown', emptyDraft]);
    assert.deepEqual([snapshot.chat.messages.at(-1)?.text, snapshot.chat.hasOlder], [large, true]);
    while (viewer.state?.hasOlder === true) {
      const count = viewer.state.messages.length;
      chat.loadOlder(viewer, viewer.state.messages[0]?.id ?? '');
      assert.ok(viewer.state.messages.length > count);
    }
    assert.deepEqual(
      viewer.state?.messages.map(({ text }) => text),
      texts,
    );
    const offered = (modelId: string): unknown => ({
      choices: [{ id: modelId, name: modelId, detail: '' }],
      selectedId: modelId,
      problem: null,
    });
    assert.deepEqual(snapshot.models, offered('none'));
    await window.store.write((writer) => updateSession(writer, long.id, { modelId: 'small' }));
    await until(() => chat.session.modelId === 'small');
    chat.attach(viewer);
    const again = viewer.received.at(-1);
    assert.deepEqual(again?.type === 'snapshot' && again.models, offered('small'));
  });

  it('is followed through two generations of its store', async () => {
    const engine = await loadEngine(readFileSync(wasmFile));
    const folder = makeFolder();
    const writer = await openStore({
      folder,
      runCheckpoint: async (job, isWindowAlive) =>
        runCheckpoint({ files: nodeFiles, engine, now: Date.now(), isWindowAlive }, job),
    });
    const { id } = await addChat(writer, ['one']);
    await other.close();
    other = await follow(folder);
    const { viewer } = show(id);
    for (const text of ['two', 'three']) {
      await writer.checkpoint();
      await writer.write(addText(id, text));
      await viewer.shows((state) => state.messages.at(-1)?.text === text);
    }
    assert.deepEqual(texts(viewer), ['one', 'two', 'three']);
    assert.equal(writer.generation, 3);
  });

  it('stays as it was while its folder is not there, which is logged once, and is followed when that is back', async () => {
    const log: string[] = [];
    const folder = makeFolder();
    const { id } = await writeIn(folder, (store) => addChat(store, ['one']));
    await other.close();
    other = await followOtherFolder(folder, { wasm: wasmFile, log: (line) => void log.push(line) });
    other.follow(5);
    const { viewer } = show(id);
    const copy = makeFolder();
    cpSync(folder, copy, { recursive: true });
    rmSync(folder, { recursive: true });
    await until(() => log.length > 0);
    assert.throws(() => other.read(() => undefined), { reason: 'unavailable' });
    await pause(50);
    assert.match(log.join('\n'), /^following failed: .* cannot be used \(ENOENT\)[^\n]*$/);
    assert.deepEqual(texts(viewer), ['one']);
    cpSync(copy, folder, { recursive: true });
    await writeIn(folder, (store) => store.write(addText(id, 'two')));
    await viewer.shows((state) => state.messages.at(-1)?.text === 'two');
  });

  it('says so when it was deleted there, and when it never was there', async () => {
    const { viewer } = show();
    const problem = new Promise((resolve) => {
      viewer.receive = (message) => {
        if (message.type === 'unavailable') resolve(message.problem.reason);
      };
    });
    await window.registry.delete(runtime.session.id);
    assert.equal(await problem, 'unknown_session');
    assert.throws(() => show(ulid()), { reason: 'unknown_session' });
  });

  it('is let go of when nothing shows it: its viewers are told, and no change reaches them', async () => {
    const { chat, viewer } = show();
    const { viewer: beside } = show();
    chat.dispose();
    assert.equal(viewer.reclaims, 1);
    const before = viewer.received.length;
    await say('More', 'Much');
    await beside.shows((state) => state.messages.at(-1)?.text === 'Much');
    assert.equal(viewer.received.length, before);
  });
});
