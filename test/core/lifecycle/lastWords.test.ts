/** Words that cannot be saved when their window goes, or when somebody takes their runtime away. */
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { ulid } from 'ulid';
import { describeRescued, Rescue, rescuePlaces } from '../../../src/core/runtime/rescue.ts';
import { getDraft } from '../../../src/core/store/drafts.ts';
import { listMessages } from '../../../src/core/store/messages.ts';
import { getSession } from '../../../src/core/store/sessions.ts';
import { answered, letGo, running, show, textsOf, type ShownChat } from './stage.ts';
import { minute, until, World, type LiveWindow } from './world.ts';

function type(chat: ShownChat, text: string): void {
  chat.runtime.setDraft({ text, caret: text.length, scroll: null, editedAt: Date.now() });
}

function draftOf(window: LiveWindow, id: string): string | undefined {
  return window.store.read((reader) => getDraft(reader, id))?.draft.text;
}

async function leave(window: LiveWindow): Promise<void> {
  for (const panel of window.panels.values()) panel.visible = false;
  await window.registry.shutDown();
  await window.store.close();
}

describe('What cannot be saved', function () {
  this.timeout(30_000);
  let world: World;
  let window: LiveWindow;
  beforeEach(async () => {
    world = new World();
    window = await world.start();
  });
  afterEach(() => world.close());

  const files = (): string[] =>
    world.rescuePlaces.flatMap((place) =>
      fs.existsSync(place) ? fs.readdirSync(place).map((name) => join(place, name)) : [],
    );

  /** An answer of which the end is not saved, a chat of which nothing is, and words that were typed. */
  async function leaveOnFullDisk(): Promise<{ cut: string; fresh: string; typed: string }> {
    const cut = await running(window);
    const typed = await answered(window);
    const fresh = await show(window);
    world.isDiskFull = true;
    await fresh.runtime.send(ulid(), 'Never saved', { evenUnsaved: true });
    window.modelOf(fresh.id).answer('Nor this');
    await until(() => !fresh.runtime.isRunning, 'the answer is over');
    window.modelOf(cut.id).play({ type: 'text', text: ' and its end' });
    await until(() => cut.runtime.state.messages.at(-1)?.text.endsWith('end') === true, 'it speaks');
    type(typed, 'Half a thought');
    await leave(window);
    return { cut: cut.id, fresh: fresh.id, typed: typed.id };
  }

  it('when a window is closed on a full disk is kept elsewhere, and is in its chats at the next start, once', async () => {
    const { cut, fresh, typed } = await leaveOnFullDisk();
    assert.equal(files().length, 3);
    assert.ok(files().every((file) => (fs.statSync(file).mode & 0o077) === 0));
    world.isDiskFull = false;
    const next = await world.start();
    assert.deepEqual(textsOf(next, cut), ['Go', 'Begun and its end']);
    assert.deepEqual(
      next.store.read((reader) => listMessages(reader, fresh)).map(({ text, status }) => [text, status]),
      [
        ['Never saved', 'complete'],
        ['Nor this', 'complete'],
      ],
    );
    assert.equal(next.store.read((reader) => getSession(reader, fresh))?.title, 'Never saved');
    assert.equal(draftOf(next, typed), 'Half a thought');
    assert.deepEqual(next.rescued.flatMap(({ chats }) => chats).sort(), ['Go', 'Hello', 'Never saved']);
    assert.deepEqual(files(), []);
    assert.deepEqual((await world.start()).rescued, []);
  });

  it('waits in its file while the disk is full, is told with the file, and nothing of it is there twice in the end', async () => {
    const { cut } = await leaveOnFullDisk();
    // As the window left it: its answer is not even marked as cut off.
    const full = await world.start();
    const told = describeRescued(full.rescued);
    assert.equal(told.length, 3);
    for (const [index, file] of files().entries()) {
      assert.ok(told[index]?.isWaiting);
      assert.ok(told[index].text.includes(file) && told[index].text.includes('no space left'));
    }
    const copies = files().map((file) => [file, fs.readFileSync(file)] as const);
    world.isDiskFull = false;
    await world.start();
    for (const [file, bytes] of copies) {
      fs.mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
      fs.writeFileSync(file, bytes);
    }
    const again = await world.start();
    assert.deepEqual(textsOf(again, cut), ['Go', 'Begun and its end']);
    assert.deepEqual(describeRescued(again.rescued), []);
    assert.deepEqual(files(), []);
  });

  it('goes to the first place that takes it, and to none that others can write to', async () => {
    const [place = ''] = world.rescuePlaces;
    const occupied = join(world.folder, 'occupied');
    fs.writeFileSync(occupied, '');
    const shared = join(world.folder, 'shared');
    fs.mkdirSync(shared);
    fs.chmodSync(shared, 0o777);
    world.rescuePlaces.unshift(occupied, shared);
    await leaveOnFullDisk();
    assert.deepEqual(fs.readdirSync(shared), []);
    assert.equal(fs.readdirSync(place).length, 3);
    // Nor is anything taken from there.
    for (const file of fs.readdirSync(place)) fs.renameSync(join(place, file), join(shared, file));
    world.isDiskFull = false;
    assert.deepEqual((await world.start()).rescued, []);
    world.rescuePlaces.splice(0, 2);
    fs.mkdirSync(place, { mode: 0o700 });
    for (const file of fs.readdirSync(shared)) fs.renameSync(join(shared, file), join(place, file));
    assert.equal((await world.start()).rescued.length, 3);
  });

  it('by no place at all is told in the log, with every reason', async () => {
    world.rescuePlaces.splice(0, 1, join(world.folder, 'mark', 'none'));
    const other = await world.start();
    const chat = await answered(other);
    fs.writeFileSync(join(world.folder, 'mark'), '');
    world.isDiskFull = true;
    type(chat, 'Words');
    await leave(other);
    assert.match(other.log.join('\n'), /rescue failed: .*is lost.*ENOTDIR/);
  });

  it('is left alone when it is damaged or of another store, and stays deleted when its chat was', async () => {
    const { fresh } = await leaveOnFullDisk();
    const [damaged = '', ...others] = files();
    fs.appendFileSync(damaged, 'x');
    const foreign = new Rescue({
      storeFolder: join(world.folder, 'other'),
      places: world.rescuePlaces,
      newId: ulid,
      now: Date.now,
      log: () => undefined,
    });
    foreign.keep('none', [
      {
        type: 'draft',
        key: 'none',
        sessionId: 'none',
        draft: { text: 'x', caret: 0, scroll: null, editedAt: 1 },
      },
    ]);
    const theirs = files().filter((file) => file !== damaged && !others.includes(file));
    world.isDiskFull = false;
    const deleting = await world.start();
    await deleting.registry.delete(fresh);
    assert.deepEqual(files().sort(), [damaged, ...theirs].sort());
    assert.match(describeRescued(deleting.rescued).at(-1)?.text ?? '', /damaged/);
  });

  it('is found where the next window of the user looks for it', () => {
    const places = rescuePlaces('/storage');
    assert.equal(places.length, 3);
    assert.equal(new Set(places).size, 3);
  });

  it('keeps its runtime: a draft as well as an answer', async () => {
    const chat = await answered(window);
    world.isDiskFull = true;
    type(chat, 'Typed on a full disk');
    await chat.runtime.flush();
    chat.panel.visible = false;
    await window.registry.detach(chat.runtime, chat.panel, 'disposed');
    window.timers.pass(60 * minute);
    await window.settled();
    assert.equal(window.registry.get(chat.id), chat.runtime);
    assert.equal(window.registry.isUnsaved(chat.id), true);
    world.isDiskFull = false;
    await chat.runtime.flush();
    assert.equal(draftOf(window, chat.id), 'Typed on a full disk');
    assert.equal(window.registry.isUnsaved(chat.id), false);
    await letGo(window, chat.id);
  });

  it('keeps its chat from being archived, and says why', async () => {
    const chat = await answered(window);
    world.isDiskFull = true;
    await chat.runtime.send(ulid(), 'Urgent', { evenUnsaved: true });
    window.modelOf(chat.id).answer('At once');
    await until(() => !chat.runtime.isRunning, 'the answer is over');
    await assert.rejects(window.registry.archive(chat.id), {
      reason: 'not_saved',
      message: /not saved yet.*no space left/,
    });
    assert.equal(chat.runtime.isFinalized, false);
    world.isDiskFull = false;
    await window.registry.archive(chat.id);
    assert.deepEqual(textsOf(window, chat.id), ['Hello', 'Hi', 'Urgent', 'At once']);
  });
});
