/** A chat that is open in one window, and what other windows do to it meanwhile. */
import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import { ownerGlanceMs } from '../../../src/core/runtime/ownerWatch.ts';
import type { ChatRuntime } from '../../../src/core/runtime/chatRuntime.ts';
import { Ownership } from '../../../src/core/runtime/ownership.ts';
import { getDraft } from '../../../src/core/store/drafts.ts';
import { takeOverLease } from '../../../src/core/store/leases.ts';
import { tipOf } from '../../../src/core/store/lineage.ts';
import { getMessage, insertMessage } from '../../../src/core/store/messages.ts';
import { endSession, getSession, insertSession } from '../../../src/core/store/sessions.ts';
import { displayMessages } from '../../../src/core/store/transcript.ts';
import { aMessage, aSession } from '../store/support/values.ts';
import { answered, letGo, running, show, textsOf, turn } from './stage.ts';
import { minute, newChat, Panel, twoWindows, until, type LiveWindow, type World } from './world.ts';

describe('A chat that is open in a window', function () {
  this.timeout(30_000);
  let world: World;
  let here: LiveWindow;
  let other: LiveWindow;
  twoWindows((...made) => ([here, other, world] = made));

  it('has one runtime there, however many ask for it at once', async () => {
    const id = ulid();
    const made = await Promise.all([1, 2, 3].map(() => here.registry.openOrCreate(newChat(id))));
    assert.deepEqual([new Set(made).size, here.registry.size], [1, 1]);
    const { runtime } = await answered(here, id);
    await letGo(here, id);
    assert.equal(runtime.isFinalized, true);
    const opened = await Promise.all([1, 2, 3].map(() => other.registry.open(id)));
    assert.deepEqual([new Set(opened).size, other.registry.size], [1, 1]);
  });

  it('goes on at the tip after another window compacted it: order kept, the model given the summary', async () => {
    const { id, runtime } = await answered(here);
    await letGo(here, id);
    const watching = await other.registry.open(id);
    const panel = new Panel(other, id);
    other.registry.attach(watching, panel);
    await here.registry.compact(id);
    await letGo(here, id);
    await turn(other, watching, 'After');
    const tip = other.store.read((reader) => tipOf(reader, id));
    assert.notEqual(tip, id);
    assert.equal(watching.session.id, tip);
    const shown = other.store.read((reader) => displayMessages(reader, id)).messages;
    assert.deepEqual(
      shown.map(({ role, text }) => (role === 'summary' ? role : text)),
      ['Hello', 'Hi', 'summary', 'After', 'Hi'],
    );
    assert.deepEqual(panel.state?.session.id, tip);
    const asked = other.modelOf(id).requests.at(-1)?.messages[0]?.text ?? '';
    assert.match(asked, /^Summary of the conversation/);
    assert.equal(runtime.isFinalized, true);
  });

  it('keeps the turns that another window carried over into the tip, for the model', async () => {
    const { id } = await answered(here);
    const first = await here.registry.open(id);
    await turn(here, first, 'Second');
    await letGo(here, id);
    const watching = await other.registry.open(id);
    await here.registry.compact(id);
    await letGo(here, id);
    await turn(other, watching, 'Third');
    const asked =
      other
        .modelOf(id)
        .requests.at(-1)
        ?.messages.map(({ text }) => text) ?? [];
    assert.match(asked[0] ?? '', /^Summary[\s\S]*\n\nSecond$/);
    assert.deepEqual(asked.slice(1), ['Hi', 'Third']);
  });

  it('is writable again after another window archived and reopened it', async () => {
    const { id, runtime } = await answered(here);
    await other.registry.archive(id);
    await here.settled();
    await assert.rejects(runtime.send(ulid(), 'Too late'), { reason: 'archived' });
    await other.registry.reopen(id);
    await turn(here, runtime, 'Again');
    assert.deepEqual(textsOf(other, id), ['Hello', 'Hi', 'Again', 'Hi']);
  });

  it('stops its answer when another window archives it, and is given back like any other', async () => {
    const { id, runtime } = await running(here);
    await other.registry.archive(id);
    await here.settled();
    await until(() => !runtime.isRunning, 'the answer stopped by itself');
    for (const panel of here.panels.values()) panel.visible = false;
    here.timers.pass(31 * minute);
    await here.settled();
    assert.equal(here.registry.size, 0, 'what may not be written keeps no runtime');
    assert.deepEqual(textsOf(here, id), ['Go', 'Begun']);
  });

  it('keeps words that could not be saved, whatever another window writes meanwhile, and saves them later', async () => {
    const { id, runtime } = await running(here);
    world.isDiskFull = true;
    here.modelOf(id).answer(' and not saved');
    await until(() => !runtime.isRunning, 'the answer is over');
    await runtime.flush();
    assert.equal(runtime.hasUnwritten, true);
    world.isDiskFull = false;
    await answered(other);
    await here.settled();
    assert.equal(runtime.state.messages.at(-1)?.text, 'Begun and not saved');
    await runtime.flush();
    assert.deepEqual(textsOf(other, id), ['Go', 'Begun and not saved']);
  });

  it('takes a prompt that cannot be saved now only when it is sent all the same, and saves it with its answer later', async () => {
    const { id, runtime } = await answered(here);
    world.isDiskFull = true;
    const messageId = ulid();
    await assert.rejects(runtime.send(messageId, 'Urgent'), { reason: 'full' });
    assert.equal(runtime.state.messages.length, 2);
    await runtime.send(messageId, 'Urgent', { evenUnsaved: true });
    here.modelOf(id).answer('At once');
    await until(() => !runtime.isRunning, 'the answer is over');
    assert.deepEqual(
      runtime.state.messages.slice(2).map(({ text, id: own }) => [text, runtime.state.unsaved.includes(own)]),
      [
        ['Urgent', true],
        ['At once', true],
      ],
    );
    assert.equal(runtime.state.savingProblem?.reason, 'full');
    world.isDiskFull = false;
    await runtime.flush();
    assert.deepEqual(textsOf(other, id), ['Hello', 'Hi', 'Urgent', 'At once']);
    assert.deepEqual([runtime.state.unsaved, runtime.state.savingProblem], [[], null]);
  });

  it('begins with a prompt that cannot be saved now, and gets its title with its row', async () => {
    const { id, runtime } = await show(here);
    world.isDiskFull = true;
    await runtime.send(ulid(), 'A new chat', { evenUnsaved: true });
    here.modelOf(id).answer('Yes');
    await until(() => !runtime.isRunning, 'the answer is over');
    world.isDiskFull = false;
    await runtime.flush();
    assert.deepEqual(textsOf(other, id), ['A new chat', 'Yes']);
    assert.equal(other.store.read((reader) => getSession(reader, id))?.title, 'A new chat');
  });

  it('refuses a prompt for a reason that stays, also when it is to be sent all the same', async () => {
    const { id } = await running(other);
    const follower = await new Panel(here, id).attached();
    await assert.rejects(follower.send(ulid(), 'Mine', { evenUnsaved: true }), { reason: 'not_owned' });
  });

  it('is not given back while it holds words that are not saved', async () => {
    const { id, runtime, panel } = await running(here);
    world.isDiskFull = true;
    here.modelOf(id).answer(' and not saved');
    await until(() => !runtime.isRunning, 'the answer is over');
    await panel.leave('lost');
    here.timers.pass(60 * minute);
    await here.settled();
    here.timers.pass(60 * minute);
    await here.settled();
    assert.equal(here.registry.get(id), runtime);
    world.isDiskFull = false;
    await runtime.flush();
    here.timers.pass(60 * minute);
    await here.settled();
    assert.equal(here.registry.size, 0);
    assert.deepEqual(textsOf(other, id), ['Go', 'Begun and not saved']);
  });

  it('is taken over in the middle of its answer: one writer, the text kept, the other window follows', async () => {
    const { id, runtime, panel } = await running(other);
    const taking = new Panel(here, id);
    const taker = await taking.attached();
    assert.equal(taking.state?.owner, 'elsewhere');
    await assert.rejects(taker.send(ulid(), 'Not yet'), { reason: 'not_owned' });
    await taker.takeOver();
    assert.equal(taking.state?.owner, 'here');
    assert.deepEqual(statusesOf(taker), [
      ['complete', 'Go'],
      ['interrupted', 'Begun'],
    ]);
    other.modelOf(id).play({ type: 'text', text: ' too late' });
    await until(() => !runtime.isRunning, 'the other window gives up');
    await other.settled();
    assert.equal(panel.state?.owner, 'elsewhere');
    assert.deepEqual(statusesOf(runtime), statusesOf(taker));
    await turn(here, taker, 'Mine now');
    await other.settled();
    assert.deepEqual(textsOf(other, id), ['Go', 'Begun', 'Mine now', 'Hi']);
    assert.deepEqual(statusesOf(runtime), statusesOf(taker));
    await assert.rejects(runtime.send(ulid(), 'And mine'), { reason: 'not_owned' });
  });

  it('is taken over there and back, also between answers, and nothing is lost or twice', async () => {
    const { id, runtime } = await answered(here);
    const taker = await new Panel(other, id).attached();
    await taker.takeOver();
    await here.settled();
    await turn(other, taker, 'There');
    await here.settled();
    await runtime.takeOver();
    await turn(here, runtime, 'And back');
    assert.deepEqual(textsOf(other, id), ['Hello', 'Hi', 'There', 'Hi', 'And back', 'Hi']);
    await other.settled();
    assert.deepEqual(statusesOf(taker), statusesOf(runtime));
  });

  it('is not taken over from oneself: the answer goes on', async () => {
    const { id, runtime } = await running(here);
    await runtime.takeOver();
    assert.equal(runtime.isRunning, true);
    here.modelOf(id).answer(' and done');
    await until(() => !runtime.isRunning, 'the answer is over');
    await runtime.flush();
    assert.deepEqual(textsOf(here, id), ['Go', 'Begun and done']);
  });

  it('is not taken over once it is archived', async () => {
    const { id } = await running(other);
    const taker = await new Panel(here, id).attached();
    await other.registry.archive(id);
    await assert.rejects(taker.takeOver(), { reason: 'archived' });
    await assert.rejects(ownership(here).takeOver(id), { reason: 'archived' });
  });

  it('is taken over at its tip when the other window has compacted it', async () => {
    const { id } = await answered(other);
    const taker = await new Panel(here, id).attached();
    await other.registry.compact(id);
    await taker.takeOver();
    await turn(here, taker, 'After');
    assert.deepEqual(
      here.store
        .read((reader) => displayMessages(reader, id))
        .messages.map(({ role, text }) => (role === 'summary' ? role : text)),
      ['Hello', 'Hi', 'summary', 'After', 'Hi'],
    );
    await assert.rejects(ownership(here).takeOver(id), { reason: 'session_not_owned' });
  });

  it('of a window that died in its answer shows it as interrupted when it is opened', async () => {
    const { id } = await running(other);
    other.kill([id]);
    const opened = await here.registry.open(id);
    assert.deepEqual(
      opened.state.messages.map(({ status, text }) => [status, text]),
      [
        ['complete', 'Go'],
        ['interrupted', 'Begun'],
      ],
    );
  });

  it('of a window that died in its answer shows it as interrupted soon, also when a third window woke the followers', async () => {
    const { id } = await running(other);
    const panel = new Panel(here, id);
    await panel.attached();
    assert.equal(panel.state?.owner, 'elsewhere');
    other.kill([id]);
    await answered(await world.start()); // its start recovers, and tells
    await here.settled();
    here.timers.pass(ownerGlanceMs);
    await here.settled();
    assert.deepEqual([panel.state?.owner, panel.state?.messages.at(-1)?.status], ['here', 'interrupted']);
  });

  it('that nobody recovered yet is recovered soon after it is shown', async () => {
    const { id } = await running(other);
    const panel = new Panel(here, id);
    await panel.attached();
    other.kill([id]);
    await answered(here); // its own writing makes it look at the owners, who are dead now
    (await panel.attached()).changedElsewhere();
    assert.deepEqual([panel.state?.owner, panel.state?.messages.at(-1)?.status], ['here', 'streaming']);
    await answered(here); // looks again at what is followed
    here.timers.pass(ownerGlanceMs);
    await here.settled();
    assert.equal(panel.state?.messages.at(-1)?.status, 'interrupted');
  });

  it('that died in its answer is recovered soon, however much a third window writes meanwhile', async () => {
    const { id } = await running(other);
    const panel = new Panel(here, id);
    await panel.attached();
    const third = await world.start();
    other.kill([id]);
    for (let passed = 0; passed < ownerGlanceMs; passed += ownerGlanceMs / 4) {
      await answered(third);
      await here.settled();
      here.timers.pass(ownerGlanceMs / 4);
    }
    await here.settled();
    assert.deepEqual([panel.state?.owner, panel.state?.messages.at(-1)?.status], ['here', 'interrupted']);
  });

  it('refuses a write to a row that another window has compacted', async () => {
    const { id } = await answered(here);
    await letGo(here, id);
    await other.registry.compact(id);
    await assert.rejects(
      ownership(here).write(id, () => undefined),
      { reason: 'session_not_owned' },
    );
  });

  it('refuses a write to a row that the user has archived, and not to one that cleanup has ended', async () => {
    const id = await row(here);
    await here.store.write((writer) => endSession(writer, id, 'crash', 1));
    await ownership(here).write(id, () => undefined);
    const archived = await row(here);
    await here.store.write((writer) => endSession(writer, archived, 'archived', 1));
    await assert.rejects(
      ownership(here).write(archived, () => undefined),
      { reason: 'archived' },
    );
  });

  it('taken from a dead writer has nothing streaming any more, in the same transaction', async () => {
    const id = await row(here);
    const message = aMessage(id, { role: 'assistant', status: 'streaming', text: 'so far' });
    await here.store.write((writer) => {
      insertMessage(writer, message);
      takeOverLease(writer, { sessionId: id, runtimeId: 'dead', windowId: 'dead', now: 1 });
    });
    const status = await ownership(here, () => false).write(
      id,
      (writer) => getMessage(writer, message.id)?.status,
    );
    assert.equal(status, 'interrupted');
  });

  it('knows when its lease is lost, and asks anew only after forgetting it', async () => {
    const id = await row(here);
    const ours = ownership(here);
    const isLost = (): boolean => here.store.read((reader) => ours.isLost(reader));
    assert.equal(isLost(), false);
    await ours.write(id, () => undefined);
    assert.equal(isLost(), false);
    await here.store.write((writer) => writer.run('UPDATE leases SET is_held = 0'));
    assert.equal(isLost(), true);
    await assert.rejects(
      ours.write(id, () => undefined),
      { reason: 'session_not_owned' },
    );
    ours.forget();
    await ours.write(id, () => undefined);
    assert.deepEqual([ours.lease?.epoch, isLost()], [2, false]);
  });

  it('writes what was typed when its runtime is taken down', async () => {
    const { id, runtime } = await answered(here);
    runtime.setDraft({ text: 'Half a thou', caret: 3, scroll: null, editedAt: Date.now() + 1000 });
    await here.registry.shutDown();
    assert.equal(other.store.read((reader) => getDraft(reader, id))?.draft.text, 'Half a thou');
  });
});

function ownership(window: LiveWindow, isWindowAlive: (id: string) => boolean = () => true): Ownership {
  const { store } = window;
  const onCutOff = (): void => undefined;
  return new Ownership({ store, runtimeId: ulid(), now: () => 5, isWindowAlive, onCutOff });
}

async function row(window: LiveWindow): Promise<string> {
  const session = aSession();
  await window.store.write((writer) => insertSession(writer, session));
  return session.id;
}

function statusesOf(runtime: ChatRuntime): [status: string, text: string][] {
  return runtime.state.messages.map(({ status, text }) => [status, text]);
}
