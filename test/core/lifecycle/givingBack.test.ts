/**
 * When a window gives runtimes back, to the millisecond. Nothing here waits for a disk, so what must not happen has had every
 * chance to.
 */
import assert from 'node:assert/strict';
import { ulid } from 'ulid';
import { ownerGlanceMs } from '../../../src/core/runtime/ownerWatch.ts';
import { getLease } from '../../../src/core/store/leases.ts';
import { renameSession } from '../../../src/core/store/sessions.ts';
import { answered, running, show, turn } from './stage.ts';
import { maximumRuntimes, minute, newChat, Panel, until, World, type LiveWindow } from './world.ts';

const grace = 20_000;
const idle = 30 * minute;

describe('A window gives a runtime back', function () {
  this.timeout(30_000);
  let world: World;
  let window: LiveWindow;
  let reclaimed: [string, string][];
  beforeEach(async () => {
    world = new World();
    window = await world.start();
    reclaimed = [];
    window.hooks.onReclaimed(({ sessionId, reason }) => reclaimed.push([sessionId, reason]));
  });
  afterEach(() => world.close());

  async function pass(milliseconds: number): Promise<void> {
    window.timers.pass(milliseconds);
    await settled();
  }

  async function settled(): Promise<void> {
    for (let round = 0; round < 4; round++) await window.settled();
  }

  it('when its panel is closed, at once', async () => {
    const { id, panel } = await answered(window);
    await panel.leave('disposed');
    assert.deepEqual(reclaimed, [[id, 'panel_closed']]);
  });

  it('not while another panel shows it', async () => {
    const { id, panel } = await answered(window);
    const second = new Panel(window, id);
    await second.attached();
    await panel.leave('disposed');
    await pass(grace);
    assert.deepEqual(reclaimed, []);
  });

  it('not when a panel comes while the last words are written', async () => {
    const { id, panel, runtime } = await answered(window);
    const leaving = window.registry.detach(runtime, panel, 'disposed');
    const second = new Panel(window, id);
    second.visible = false;
    window.registry.attach(runtime, second);
    await leaving;
    await pass(grace);
    assert.deepEqual([reclaimed, runtime.isFinalized, second.reclaims], [[], false, 0]);
  });

  it('whose renderer was lost 20 s later, not a millisecond before', async () => {
    const { id, panel } = await answered(window);
    await panel.leave('lost');
    await pass(grace - 1);
    assert.deepEqual(reclaimed, []);
    await pass(1);
    assert.deepEqual(reclaimed, [[id, 'orphan_reap']]);
  });

  it('not when the panel came back meanwhile; then the time starts anew', async () => {
    const { id, panel, runtime } = await answered(window);
    await panel.leave('lost');
    await pass(grace - 1);
    const back = new Panel(window, id);
    assert.equal(await back.attached(), runtime);
    await pass(minute);
    assert.deepEqual(reclaimed, []);
    await back.leave('lost');
    await pass(grace - 1);
    assert.deepEqual(reclaimed, []);
    await pass(1);
    assert.deepEqual(reclaimed, [[id, 'orphan_reap']]);
  });

  it('after the answer that its closed panel left running, 20 s after it is complete', async () => {
    const { id, panel, runtime } = await running(window);
    await panel.leave('disposed');
    await pass(24 * 60 * minute);
    assert.deepEqual(reclaimed, []);
    // What happens while it runs starts no time, of which a part would be over when the answer is.
    await window.store.write((writer) => renameSession(writer, id, 'Renamed meanwhile'));
    runtime.readSessionAgain();
    await pass(grace - 1);
    window.modelOf(id).answer(' and done.');
    await until(() => !runtime.isRunning, 'the answer is over');
    await runtime.flush();
    await settled();
    await pass(grace - 1);
    assert.deepEqual(reclaimed, []);
    await pass(1);
    assert.deepEqual(reclaimed, [[id, 'orphan_reap']]);
  });

  it('that nobody looks at and nobody uses, after 30 minutes', async () => {
    const { id, panel } = await answered(window);
    panel.visible = false;
    await pass(idle - 1);
    assert.deepEqual(reclaimed, []);
    await pass(1);
    assert.deepEqual(reclaimed, [[id, 'idle_timeout']]);
  });

  it('not while it is used, from the last use on', async () => {
    const { id, panel, runtime } = await answered(window);
    panel.visible = false;
    for (let count = 0; count < 3; count++) {
      await pass(idle - 1);
      window.registry.used(runtime);
    }
    await pass(idle - 1);
    assert.equal(await window.registry.open(id), runtime, 'asking for it is a use');
    await pass(idle - 1);
    assert.deepEqual(reclaimed, []);
    await pass(1);
    assert.deepEqual(reclaimed, [[id, 'idle_timeout']]);
  });

  it('never while it is seen, and 30 minutes after it is hidden at the latest', async () => {
    const { id, panel } = await answered(window);
    await pass(24 * 60 * minute);
    assert.deepEqual(reclaimed, []);
    panel.visible = false;
    await pass(idle);
    assert.deepEqual(reclaimed, [[id, 'idle_timeout']]);
  });

  it('never while it answers, though nobody sees it', async () => {
    const { id, panel, runtime } = await running(window);
    panel.visible = false;
    await pass(24 * 60 * minute);
    assert.deepEqual([reclaimed, runtime.isFinalized], [[], false]);
    const lease = window.store.read((reader) => getLease(reader, id));
    assert.equal(lease?.runtimeId, runtime.id, 'no lease is lost by sleeping');
  });

  it('the one unused for longest first, when there are more than it may keep', async () => {
    const chats = [];
    for (let count = 0; count < maximumRuntimes; count++) {
      const chat = await answered(window);
      chat.panel.visible = false;
      chats.push(chat);
      await pass(10);
    }
    const [first, second, third] = chats;
    assert.ok(first !== undefined && second !== undefined && third !== undefined);
    window.registry.used(first.runtime);
    await pass(10);
    assert.deepEqual(reclaimed, [], 'as many as it may keep are kept');
    await show(window);
    await settled();
    assert.deepEqual(reclaimed, [[second.id, 'lru_evict']]);
    assert.equal(window.registry.size, maximumRuntimes);
  });

  it('never a seen or answering one for another, however many there are', async () => {
    const seen = await answered(window);
    const busy = await running(window);
    busy.panel.visible = false;
    for (let count = 0; count < maximumRuntimes; count++) {
      const { panel } = await show(window);
      panel.visible = false;
      await settled();
    }
    assert.deepEqual([seen.runtime.isFinalized, busy.runtime.isFinalized], [false, false]);
    assert.ok(reclaimed.length > 0 && reclaimed.every(([, reason]) => reason === 'lru_evict'));
    assert.equal(window.registry.get(busy.id), busy.runtime);
  });

  it('never the one that was just asked for', async () => {
    const chats = [];
    for (let count = 0; count <= maximumRuntimes; count++) {
      const runtime = await window.registry.openOrCreate({
        id: ulid(),
        workspaceUri: null,
        workspaceName: null,
        modelId: null,
      });
      chats.push(runtime);
      await settled();
    }
    assert.equal(chats.at(-1)?.isFinalized, false);
    assert.equal(chats[0]?.isFinalized, true);
  });

  it('never the one that was just asked for, though it is the only one that may go', async () => {
    for (let count = 0; count < maximumRuntimes; count++) await show(window);
    const newest = await window.registry.openOrCreate(newChat(ulid()));
    await settled();
    assert.deepEqual([reclaimed, newest.isFinalized], [[], false]);
  });

  it('none while there are fewer than it may keep', async () => {
    const roomy = await world.start({ maximumRuntimes: 10 });
    roomy.hooks.onReclaimed(({ sessionId, reason }) => reclaimed.push([sessionId, reason]));
    for (let count = 0; count < 10; count++) {
      const { panel } = await show(roomy);
      panel.visible = false;
      await roomy.settled();
    }
    assert.deepEqual([reclaimed, roomy.registry.size], [[], 10]);
  });

  it('counting the time of each by itself', async () => {
    const first = await answered(window);
    first.panel.visible = false;
    const second = await answered(window);
    second.panel.visible = false;
    await pass(idle - 1);
    window.registry.used(second.runtime);
    await pass(1);
    assert.deepEqual(reclaimed, [[first.id, 'idle_timeout']]);
  });

  it('30 minutes after a hidden panel was put on it', async () => {
    const { id, panel, runtime } = await answered(window);
    panel.visible = false;
    await pass(idle - 1);
    const second = new Panel(window, id);
    second.visible = false;
    window.registry.attach(runtime, second);
    await pass(idle - 1);
    assert.deepEqual(reclaimed, []);
    await pass(1);
    assert.deepEqual(reclaimed, [[id, 'idle_timeout']]);
  });

  it('in its grace time also when its panel had come back before, and answers were seen to their end', async () => {
    const { id, panel, runtime } = await answered(window);
    await panel.leave('lost');
    await pass(1000);
    const back = new Panel(window, id);
    await back.attached();
    await turn(window, runtime, 'Seen');
    await settled();
    await runtime.send(ulid(), 'Unseen');
    await back.leave('disposed');
    window.modelOf(id).answer('Hi');
    await until(() => !runtime.isRunning, 'the answer is over');
    await runtime.flush();
    await settled();
    await pass(grace - 1);
    assert.deepEqual(reclaimed, []);
    await pass(1);
    assert.deepEqual(reclaimed, [[id, 'orphan_reap']]);
  });

  it('in its grace time whatever happens to the chat meanwhile', async () => {
    const { id, panel, runtime } = await answered(window);
    await panel.leave('lost');
    await pass(grace - 1);
    await window.store.write((writer) => renameSession(writer, id, 'Renamed meanwhile'));
    runtime.readSessionAgain();
    await settled();
    await pass(1);
    assert.deepEqual(reclaimed, [[id, 'orphan_reap']]);
  });

  it('not when a hidden panel comes at the end of the grace time', async () => {
    const { id, panel, runtime } = await answered(window);
    await panel.leave('lost');
    window.timers.pass(grace); // and before what waits is written:
    const second = new Panel(window, id);
    second.visible = false;
    window.registry.attach(runtime, second);
    await settled();
    assert.deepEqual([reclaimed, second.reclaims], [[], 0]);
  });

  it('once, though its panel goes a second time', async () => {
    const { id, panel, runtime } = await answered(window);
    await window.registry.detach(runtime, panel, 'disposed');
    await window.registry.detach(runtime, panel, 'disposed');
    window.registry.used(runtime);
    await pass(60 * minute);
    assert.deepEqual(reclaimed, [[id, 'panel_closed']]);
  });

  it('or takes it on, when the silent window that it followed has died', async () => {
    const other = await world.start();
    const { id } = await answered(window);
    const follower = new Panel(other, id);
    const runtime = await follower.attached();
    assert.equal(runtime.state.owner, 'elsewhere');
    window.kill([id]);
    other.timers.pass(ownerGlanceMs);
    await other.settled();
    assert.equal(runtime.state.owner, 'here');
  });

  it('not while the death of the window that it follows cannot be written down: it looks again later', async () => {
    const other = await world.start();
    const { id } = await running(window);
    const runtime = await new Panel(other, id).attached();
    window.kill([id]);
    world.isDiskFull = true;
    other.timers.pass(ownerGlanceMs);
    await other.settled();
    assert.match(other.log.join('\n'), /answers of dead windows could not be marked/);
    assert.equal(runtime.state.messages.at(-1)?.status, 'streaming');
    world.isDiskFull = false;
    other.timers.pass(ownerGlanceMs);
    await other.settled();
    assert.deepEqual(
      [runtime.state.messages.at(-1)?.text, runtime.state.messages.at(-1)?.status],
      ['Begun', 'interrupted'],
    );
  });

  it('not while it follows another window, whose death it finds at a glance', async () => {
    const other = await world.start();
    const { id } = await running(window);
    const follower = new Panel(other, id);
    const runtime = await follower.attached();
    other.timers.pass(ownerGlanceMs);
    await other.settled();
    assert.equal(runtime.state.owner, 'elsewhere', 'a live window is not robbed');
    window.kill([id]);
    other.timers.pass(ownerGlanceMs - 1);
    await other.settled();
    assert.equal(runtime.state.owner, 'elsewhere');
    other.timers.pass(1);
    await other.settled();
    assert.deepEqual([runtime.state.owner, runtime.state.messages.at(-1)?.status], ['here', 'interrupted']);
  });
});
