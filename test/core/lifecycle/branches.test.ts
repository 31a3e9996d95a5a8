/** Branches of chats that are open, written, followed and archived in several windows. */
import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import type { ChatRuntime } from '../../../src/core/runtime/chatRuntime.ts';
import type { Fork } from '../../../src/core/session/events.ts';
import { getDraft } from '../../../src/core/store/drafts.ts';
import { insertMessage } from '../../../src/core/store/messages.ts';
import { insertSession, listChats } from '../../../src/core/store/sessions.ts';
import { pinLineage, renameLineage } from '../../../src/core/store/lineageChanges.ts';
import { getRoute } from '../../../src/core/store/routes.ts';
import { displayMessages } from '../../../src/core/store/transcript.ts';
import { aMessage, aSession } from '../store/support/values.ts';
import { answered, branchIn, running, show, textsOf, turn } from './stage.ts';
import { Panel, twoWindows, until, World, type LiveWindow } from './world.ts';

const shownIn = ({ state }: Pick<ChatRuntime, 'state'>): string[] =>
  state.messages.filter(({ copyOf }) => copyOf === null).map(({ text }) => text);
const forksOf = ({ state }: Pick<ChatRuntime, 'state'>): Fork[] => [...state.forks];
const idOf = (runtime: ChatRuntime, text: string): string =>
  runtime.state.messages.find((message) => message.text === text)?.id ?? '';

describe('Branch from here', function () {
  this.timeout(30_000);
  let here: LiveWindow;
  let other: LiveWindow;
  twoWindows((...made) => ([here, other] = made));

  it('makes a chat of its own that goes on by itself, and both stay reachable', async () => {
    const { id, runtime } = await answered(here);
    await turn(here, runtime, 'Second');
    const branch = await branchIn(here, id, { messageId: idOf(runtime, 'Hi') });
    assert.equal(
      here.store.read((reader) => getDraft(reader, branch)),
      null,
    );
    const opened = await show(here, branch);
    await turn(here, opened.runtime, 'Instead');
    assert.deepEqual(shownIn(opened.runtime), ['Hello', 'Hi', 'Instead', 'Hi']);
    assert.deepEqual(shownIn(runtime), ['Hello', 'Hi', 'Second', 'Hi']);
    const asked = here
      .modelOf(id)
      .requests.at(-1)
      ?.messages.map(({ text }) => text);
    assert.deepEqual(asked, ['Hello', 'Hi', 'Instead']);
    const chats = [id, branch];
    const places = [runtime, opened.runtime].map((chat) => [forksOf(chat), idOf(chat, 'Hi')]);
    assert.deepEqual(
      places.map(([forks]) => forks),
      places.map(([, after], current) => [{ after, chats, current }]),
    );
    const listed = here.store.read((reader) => listChats(reader, { archived: false, limit: 9 }));
    assert.deepEqual(listed.map(({ session }) => session.title).sort(), ['Hello', 'Hello (branch)']);
  });

  it('from a chat that another window writes takes what it has said, and disturbs nobody', async () => {
    const { id, runtime } = await running(other);
    const mirror = await show(here, id);
    const branch = await branchIn(here, id);
    const opened = await here.registry.open(branch);
    assert.deepEqual(
      opened.state.messages.map(({ status, text }) => [status, text]),
      [
        ['complete', 'Go'],
        ['interrupted', 'Begun'],
      ],
    );
    assert.deepEqual([opened.state.owner, mirror.panel.state?.owner], ['here', 'elsewhere']);
    other.modelOf(id).answer(' and done');
    await until(() => !runtime.isRunning, 'the answer is over');
    await runtime.flush();
    await turn(here, opened, 'Mine');
    assert.deepEqual(textsOf(here, id), ['Go', 'Begun and done']);
    assert.deepEqual(textsOf(here, branch), ['Go', 'Begun', 'Mine', 'Hi']);
  });

  it('has what this window has not written yet', async () => {
    const { id, runtime } = await running(here);
    here.modelOf(id).play({ type: 'text', text: ' and more' });
    await until(() => runtime.state.messages.at(-1)?.text === 'Begun and more', 'it speaks');
    const branch = await branchIn(here, id);
    assert.deepEqual(textsOf(here, branch), ['Go', 'Begun and more']);
  });

  it('from an archived chat is open, and the archived one stays archived', async () => {
    const { id } = await answered(here);
    await here.registry.archive(id);
    const branch = await branchIn(here, id);
    await turn(here, await here.registry.open(branch), 'On');
    const ids = (archived: boolean): string[] =>
      here.store.read((reader) => listChats(reader, { archived, limit: 9 })).map(({ session }) => session.id);
    assert.deepEqual([ids(false), ids(true)], [[branch], [id]]);
    await here.registry.archive(branch);
    await here.registry.reopen(id);
    assert.deepEqual([ids(false), ids(true)], [[id], [branch]]);
  });

  it('is not reached by Archive, Pin and Rename of the chat, nor the other way round', async () => {
    const { id, runtime } = await answered(here);
    await here.registry.compact(id);
    const branch = await branchIn(here, id);
    await here.store.write((writer) => {
      renameLineage(writer, id, 'Mine');
      pinLineage(writer, id, true);
    });
    await here.registry.archive(id);
    const session = (await here.registry.open(branch)).session;
    assert.deepEqual([session.title, session.pinned, session.endReason], ['Hello (branch)', false, null]);
    await here.registry.reopen(id);
    await here.registry.archive(branch);
    runtime.readSessionAgain();
    const tip = await here.registry.open(id);
    assert.deepEqual([tip.session.title, tip.session.pinned, tip.session.endReason], ['Mine', true, null]);
  });

  it('asked for twice under one id is one branch, and of an empty chat none', async () => {
    const { id, runtime } = await answered(here);
    const branch = await branchIn(here, id);
    await turn(here, runtime, 'Later');
    await branchIn(here, id, { id: branch });
    assert.deepEqual(textsOf(here, branch), ['Hello', 'Hi']);
    assert.equal(forksOf(runtime).length, 1);
    const empty = await show(here);
    empty.runtime.setDraft({ text: 'typed', caret: 5, scroll: null, editedAt: Date.now() });
    await empty.runtime.flush();
    await assert.rejects(branchIn(here, empty.id), { reason: 'nothing_to_do' });
    await assert.rejects(branchIn(here, ulid()), { reason: 'nothing_to_do' });
  });

  it('is shown as a fork at once in every window, and no more once it is deleted', async () => {
    const { id, runtime } = await answered(here);
    const mirror = await show(other, id);
    const branch = await branchIn(other, id);
    await here.settled();
    const fork = { after: idOf(runtime, 'Hi'), chats: [id, branch], current: 0 };
    assert.deepEqual([forksOf(runtime), forksOf(mirror.runtime)], [[fork], [fork]]);
    assert.deepEqual([mirror.panel.state?.forks], [[fork]]);
    await other.registry.delete(branch);
    await here.settled();
    assert.deepEqual([forksOf(runtime), forksOf(mirror.runtime), mirror.panel.state?.forks], [[], [], []]);
  });

  it('after an answer that used tools is shown at the message that asked for them', async () => {
    const session = aSession();
    const call = { id: 'call', name: 'readFile', arguments: '{}' };
    const answer = aMessage(session.id, { role: 'assistant', text: '', toolCalls: [call] });
    await here.store.write((writer) => {
      insertSession(writer, session);
      insertMessage(writer, aMessage(session.id, { text: 'Look' }));
      insertMessage(writer, answer);
      insertMessage(writer, aMessage(session.id, { role: 'tool', toolCallId: 'call', text: 'Found' }));
    });
    await branchIn(here, session.id, { messageId: answer.id });
    assert.equal(forksOf(await here.registry.open(session.id))[0]?.after, answer.id);
  });

  it('behind a compaction shows the whole chat, gives the model the summary, and folds what is retried where it is shown', async () => {
    const { id, runtime } = await answered(here);
    await turn(here, runtime, 'Second');
    await here.registry.compact(id);
    await turn(here, runtime, 'Third');
    const branch = await branchIn(here, id);
    const { runtime: opened, panel } = await show(here, branch);
    const shown = opened.state.messages.filter(({ copyOf }) => copyOf === null);
    assert.deepEqual(
      shown.map(({ role, text }) => (role === 'summary' ? role : text)),
      ['Hello', 'Hi', 'Second', 'Hi', 'summary', 'Third', 'Hi'],
    );
    const lastOf = (chat: ChatRuntime) => chat.state.messages.findLast(({ copyOf }) => copyOf === null)?.id;
    assert.deepEqual(
      [runtime, opened].map((chat) => forksOf(chat)[0]?.after),
      [runtime, opened].map(lastOf),
    );
    await opened.retry();
    here.modelOf(id).answer('Better');
    await until(() => !opened.isRunning, 'the answer is over');
    await opened.flush();
    const folded = panel.state?.messages.filter(({ active, copyOf }) => !active && copyOf === null);
    assert.deepEqual(
      folded?.map(({ id: own }) => own),
      [shown.at(-1)?.id],
    );
    const asked =
      here
        .modelOf(id)
        .requests.at(-1)
        ?.messages.map(({ text }) => text) ?? [];
    assert.match(asked[0] ?? '', /^Summary[\s\S]*\n\nSecond$/);
    assert.deepEqual(asked.slice(1), ['Hi', 'Third']);
    await here.registry.compact(branch);
    await turn(here, await here.registry.open(branch), 'Fourth');
    assert.deepEqual(
      here.store
        .read((reader) => displayMessages(reader, branch))
        .messages.filter(({ role, active }) => active && role !== 'summary')
        .map(({ text }) => text),
      ['Hello', 'Hi', 'Second', 'Hi', 'Third', 'Better', 'Fourth', 'Hi'],
    );
  });
});

describe('Edit and resend', function () {
  this.timeout(30_000);
  let world: World;
  let here: LiveWindow;
  beforeEach(async () => {
    world = new World();
    here = await world.start();
  });
  afterEach(() => world.close());

  it('goes on in a branch from just before the prompt; the panel and its route are with the branch', async () => {
    const { id, runtime, panel } = await answered(here);
    await turn(here, runtime, 'Secnod');
    const request = { messageId: idOf(runtime, 'Secnod'), cut: 'before', text: 'Second' } as const;
    const branch = await branchIn(here, id, request);
    const opened = await here.registry.open(branch);
    assert.equal(opened.draft.text, 'Second');
    await turn(here, opened, 'Second');
    await panel.show(branch);
    assert.deepEqual(shownIn(opened), ['Hello', 'Hi', 'Second', 'Hi']);
    assert.deepEqual(textsOf(here, id), ['Hello', 'Hi', 'Secnod', 'Hi']);
    assert.deepEqual([opened.draft.text, panel.state?.session.id], ['', branch]);
    const route = here.store.read((reader) => getRoute(reader, `panel:${panel.id}`));
    assert.deepEqual([route?.sessionId, here.routes.sessionOf(panel.id)], [branch, branch]);
    assert.equal(here.routes.sessionOf('none'), null);
    await panel.show(id);
    assert.deepEqual(panel.state?.forks, [{ after: idOf(runtime, 'Hi'), chats: [id, branch], current: 0 }]);
  });

  it('of the first prompt begins a chat with nothing before it', async () => {
    const { id, runtime } = await answered(here);
    const request = { messageId: idOf(runtime, 'Hello'), cut: 'before', text: 'Hullo' } as const;
    const branch = await branchIn(here, id, request);
    const { runtime: opened } = await show(here, branch);
    await turn(here, opened, 'Hullo');
    assert.deepEqual(shownIn(opened), ['Hullo', 'Hi']);
    assert.deepEqual(forksOf(opened), [{ after: null, chats: [id, branch], current: 1 }]);
    assert.equal(opened.session.title, 'Hello (branch)');
  });

  it('keeps the text in the branch, which is listed, when the prompt cannot be sent or the window dies before', async () => {
    const { id, runtime } = await answered(here);
    const request = { messageId: idOf(runtime, 'Hello'), cut: 'before', text: 'Hullo' } as const;
    const branch = await branchIn(here, id, request);
    const opened = await here.registry.open(branch);
    world.isDiskFull = true;
    await assert.rejects(opened.send(ulid(), 'Hullo'), { reason: 'full' });
    world.isDiskFull = false;
    here.kill([id, branch]);
    const next = await world.start();
    const again = await new Panel(next, branch).attached();
    assert.equal(again.draft.text, 'Hullo');
    const listed = next.store.read((reader) => listChats(reader, { archived: false, limit: 9 }));
    assert.deepEqual(
      listed.map(({ session, hasDraft }) => [session.id, hasDraft]).sort(),
      [
        [branch, true],
        [id, false],
      ].sort(),
    );
  });

  it('makes no branch when it cannot be saved', async () => {
    const { id, runtime } = await answered(here);
    world.isDiskFull = true;
    const request = { messageId: idOf(runtime, 'Hello'), cut: 'before', text: 'Hullo' } as const;
    await assert.rejects(branchIn(here, id, request), { reason: 'full' });
    world.isDiskFull = false;
    assert.equal(here.store.read((reader) => listChats(reader, { archived: null, limit: 9 })).length, 1);
    assert.deepEqual(forksOf(runtime), []);
  });
});
