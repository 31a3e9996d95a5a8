/** What a window that follows a chat tells its panels, and when it takes the window that writes it for dead. */
import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import { answered, branchIn, running, show, turn } from './stage.ts';
import { twoWindows, until, type LiveWindow, type World } from './world.ts';

describe('A window that follows a chat', function () {
  this.timeout(30_000);
  let world: World;
  let here: LiveWindow;
  let other: LiveWindow;
  twoWindows((...made) => ([here, other, world] = made));

  it('says nothing to its panels while others change nothing of the chat', async () => {
    const { id } = await answered(other);
    await branchIn(other, id);
    const follower = await show(here, id);
    const own = await answered(here);
    await here.settled();
    const received = [follower, own].map(({ panel }) => panel.received.length);
    await answered(other);
    await here.settled();
    assert.deepEqual(
      [follower, own].map(({ panel }) => panel.received.length),
      received,
    );
  });

  it('is told what was saved, never of nothing that was', async () => {
    const { panel } = await answered(here);
    const saved = panel.received.flatMap((message) =>
      message.type === 'event' && message.event.type === 'messagesSaved' ? [message.event.ids] : [],
    );
    assert.deepEqual(new Set(saved.flat()), new Set(panel.state?.messages.map(({ id }) => id)));
    assert.ok(saved.every((ids) => ids.length > 0));
  });

  it('takes a chat for abandoned once its writer is dead, and never one of its own that is at rest', async () => {
    const { id } = await running(other);
    const { runtime: follower } = await show(here, id);
    const { runtime: own } = await answered(here);
    const judged = (): boolean[] =>
      [follower, own].flatMap(({ seemsAbandoned, isAbandoned }) => [seemsAbandoned, isAbandoned]);
    assert.deepEqual(judged(), [false, false, false, false]);
    other.kill([id]);
    assert.deepEqual(judged(), [true, true, false, false]);
  });

  it('shows what a dead one was writing as interrupted as soon as it goes on with the chat', async () => {
    const { id } = await running(other);
    const { runtime, panel } = await show(here, id);
    other.kill([id]);
    await runtime.send(ulid(), 'Mine');
    here.modelOf(id).play({ type: 'text', text: 'Hi' });
    await until(() => runtime.state.messages.at(-1)?.text === 'Hi', 'it speaks');
    assert.deepEqual(
      panel.state?.messages.map(({ text, status }) => [text, status]),
      [
        ['Go', 'complete'],
        ['Begun', 'interrupted'],
        ['Mine', 'complete'],
        ['Hi', 'streaming'],
      ],
    );
    assert.deepEqual(panel.state.unsaved, [panel.state.messages.at(-1)?.id]);
    await runtime.stop();
    const stored = panel.state.messages.map(({ text, status, finishedAt }) => [text, status, finishedAt]);
    const again = await (await world.start()).registry.open(id);
    assert.deepEqual(
      again.state.messages.map(({ text, status, finishedAt }) => [text, status, finishedAt]),
      stored,
    );
  });

  it('shows an answer that was cut off and replaced before it looked as whole as it was', async () => {
    const { id, runtime } = await running(other);
    const { panel } = await show(here, id);
    other.modelOf(id).play({ type: 'text', text: ' and more' });
    await until(() => runtime.state.messages.at(-1)?.text === 'Begun and more', 'it speaks');
    await runtime.stop();
    await runtime.retry();
    await runtime.flush();
    await here.settled();
    assert.deepEqual(
      panel.state?.messages.map(({ text, status, active }) => [text, status, active]),
      [
        ['Go', 'complete', true],
        ['Begun and more', 'interrupted', false],
        ['', 'streaming', true],
      ],
    );
    await runtime.stop();
  });

  it('goes on by itself where another window compacted the chat, and tells its list', async () => {
    const { id, runtime } = await answered(other);
    const follower = await show(here, id);
    let changes = 0;
    here.registry.onDidChange(() => (changes += 1));
    await other.registry.compact(id);
    await here.settled();
    assert.equal(follower.runtime.session.id, runtime.session.id);
    assert.notEqual(follower.runtime.session.id, id);
    assert.ok(changes > 0);
    assert.equal(follower.panel.state?.owner, 'elsewhere');
    await turn(other, runtime, 'After');
    await here.settled();
    assert.equal(follower.panel.state.messages.at(-2)?.text, 'After');
  });
});
