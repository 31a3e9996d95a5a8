/** Contents that live in files of their own, as a runtime meets them. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { ulid } from 'ulid';
import { Recorder } from '../../../src/core/runtime/recorder.ts';
import { unreadableContents } from '../../../src/core/session/text.ts';
import { listMessages } from '../../../src/core/store/messages.ts';
import { displayMessages } from '../../../src/core/store/transcript.ts';
import { insertMessage } from '../../../src/core/store/messages.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import type { Message } from '../../../src/core/session/model.ts';
import { aMessage, aSession } from '../store/support/values.ts';
import { Kit, RecordingViewer, type Window } from './kit.ts';

const large = 'large '.repeat(60_000);

/** A chat of 120 rows, of which the first two and the last two are large. Gives the rows and the blob of each large one. */
async function makeChat(
  window: Window,
  chatId: string,
): Promise<{ rows: Message[]; blobOf: Map<string, string> }> {
  const folder = path.join(window.store.folder, 'blobs');
  const rows = Array.from({ length: 120 }, (_, index) =>
    aMessage(chatId, {
      role: index % 2 === 0 ? 'user' : 'assistant',
      text: index < 2 || index > 117 ? `${index} ${large}` : `${index}`,
    }),
  );
  const blobOf = new Map<string, string>();
  await window.store.write((writer) => insertSession(writer, aSession({ id: chatId })));
  for (const row of rows) {
    const before = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
    await window.store.write((writer) => insertMessage(writer, row));
    const added = fs.existsSync(folder)
      ? fs.readdirSync(folder).filter((name) => !before.includes(name))
      : [];
    for (const name of added) blobOf.set(row.id, path.join(folder, name));
  }
  return { rows, blobOf };
}

describe('A chat with large contents', function () {
  this.timeout(30_000);
  let kit: Kit;
  beforeEach(() => {
    kit = new Kit();
  });
  afterEach(() => kit.close());

  it('is opened without reading what is not shown; what is shown and what is sent is whole', async () => {
    const window = await kit.window();
    const chatId = ulid();
    const { rows, blobOf } = await makeChat(window, chatId);
    assert.equal(blobOf.size, 4);
    const runtime = await window.registry.open(chatId);
    assert.equal(runtime.state.messages.filter(({ contents }) => contents === 'left').length, 4);
    const viewer = new RecordingViewer();
    window.registry.attach(runtime, viewer);
    assert.deepEqual(
      viewer.state?.messages.map(({ text }) => text),
      rows.slice(-1).map(({ text }) => text),
    );
    while (viewer.state?.hasOlder === true) runtime.loadOlder(viewer, viewer.state.messages[0]?.id ?? '');
    assert.equal(runtime.state.messages.filter(({ contents }) => contents === 'left').length, 4);
    assert.deepEqual(
      viewer.state?.messages.map(({ text }) => text),
      rows.map(({ text }) => text),
    );
    await runtime.send(ulid(), 'Go on');
    assert.deepEqual(
      kit.model.requests[0]?.messages.map((message) => message.text),
      [...rows.map(({ text }) => text), 'Go on'],
    );
    kit.model.answer('Yes');
    await viewer.shows(({ turn }) => turn === null);
  });

  it('shows and sends a sentence for what cannot be read, and the rest as it was', async () => {
    const window = await kit.window();
    const chatId = ulid();
    const { rows, blobOf } = await makeChat(window, chatId);
    fs.rmSync(blobOf.get(rows.at(-1)?.id ?? '') ?? '');
    const runtime = await window.registry.open(chatId);
    const viewer = new RecordingViewer();
    window.registry.attach(runtime, viewer);
    const shown = viewer.state?.messages.at(-1);
    assert.deepEqual([shown?.text, shown?.contents], ['', 'unreadable']);
    await runtime.send(ulid(), 'Go on');
    const sent = kit.model.requests[0]?.messages.map((message) => message.text) ?? [];
    assert.deepEqual(sent.slice(-3), [rows.at(-2)?.text, `[${unreadableContents}]`, 'Go on']);
    kit.model.answer('Yes');
    await viewer.shows(({ turn }) => turn === null);
  });

  it('is folded by a retry without losing a word, and followed by another window as it is written', async () => {
    const window = await kit.window();
    const other = await kit.window();
    const chatId = ulid();
    const { rows } = await makeChat(window, chatId);
    const runtime = await window.registry.open(chatId);
    const viewer = new RecordingViewer();
    window.registry.attach(runtime, viewer);
    const mirror = new RecordingViewer();
    other.registry.attach(await other.registry.open(chatId), mirror);
    await runtime.retry();
    kit.model.play({ type: 'text', text: large });
    await mirror.shows(({ messages }) => messages.at(-1)?.text === large);
    kit.model.play({ type: 'text', text: 'end' }, { type: 'finish', usage: null });
    await mirror.shows(({ messages }) => messages.at(-1)?.status === 'complete');
    const stored = window.store.read((reader) => listMessages(reader, chatId));
    assert.deepEqual(
      stored.map(({ text }) => text),
      [...rows.map(({ text }) => text), `${large}end`],
    );
    assert.deepEqual(stored.map(({ active }) => active).slice(-2), [false, true]);
    assert.deepEqual(
      mirror.state?.messages.map(({ text }) => text),
      stored.slice(-(mirror.state?.messages.length ?? 0)).map(({ text }) => text),
    );
    assert.equal(mirror.received.filter(({ type }) => type === 'snapshot').length, 1);
    assert.deepEqual(
      other.store.read((reader) => displayMessages(reader, chatId)).messages.map(({ text }) => text),
      stored.map(({ text }) => text),
    );
  });

  it('keeps what was left in the store when a write about it failed and is tried again whole', async () => {
    const { store } = await kit.window();
    const chatId = ulid();
    const message = aMessage(chatId, { text: large });
    await store.write((writer) => insertSession(writer, aSession({ id: chatId })));
    await store.write((writer) => insertMessage(writer, message));
    const [left] = store.read((reader) => listMessages(reader, chatId, { contents: 'leave' }));
    assert.ok(left?.contents === 'left');
    let isBroken = true;
    const recorder = new Recorder({
      write: (change) => (isBroken ? Promise.reject(new Error('no')) : store.write(change)),
      message: () => ({ ...left, active: false }),
      onSaved: () => undefined,
      onProblem: () => undefined,
      isFinal: () => false,
    });
    recorder.changed([left.id]);
    await recorder.flush();
    isBroken = false;
    await recorder.flush();
    recorder.dispose();
    const [stored] = store.read((reader) => listMessages(reader, chatId));
    assert.deepEqual([stored?.text, stored?.active], [large, false]);
  });
});
