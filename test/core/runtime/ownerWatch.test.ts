import assert from 'node:assert/strict';
import {
  ownerCheckMs,
  ownerGlanceMs,
  OwnerWatch,
  type WatchedChat,
} from '../../../src/core/runtime/ownerWatch.ts';
import { PlayedTimers } from './kit.ts';

describe('The watch over the windows that write what is followed here', () => {
  /** What was looked at, in order; a chat is one that another window writes. */
  function watched(facts: { seems: boolean; is: boolean; owner?: 'here' | 'elsewhere' }) {
    const timers = new PlayedTimers();
    const looks: string[] = [];
    let abandoned = 0;
    const chat: WatchedChat = {
      state: { owner: facts.owner ?? 'elsewhere' },
      get seemsAbandoned() {
        looks.push('glance');
        return facts.seems;
      },
      get isAbandoned() {
        looks.push('look');
        return facts.is;
      },
    };
    const idle: WatchedChat = { state: { owner: 'here' }, seemsAbandoned: false, isAbandoned: false };
    const watch = new OwnerWatch({
      timers,
      runtimes: () => [idle, chat],
      onAbandoned: () => (abandoned += 1),
    });
    watch.start();
    return { timers, watch, looks, facts, abandonedTimes: () => abandoned };
  }

  it('glances now and then at one that lives, and makes sure seldom', () => {
    const { timers, looks, abandonedTimes } = watched({ seems: false, is: false });
    timers.pass(ownerCheckMs - 1);
    assert.deepEqual(looks, Array<string>(ownerCheckMs / ownerGlanceMs - 1).fill('glance'));
    looks.length = 0;
    timers.pass(1);
    assert.deepEqual(looks, ['look']);
    timers.pass(ownerCheckMs);
    assert.equal(looks.filter((look) => look === 'look').length, 2);
    assert.equal(abandonedTimes(), 0);
  });

  it('makes sure at once of one that seems gone, and tells of it only then', () => {
    const living = watched({ seems: true, is: false });
    living.timers.pass(ownerGlanceMs);
    assert.deepEqual([living.looks, living.abandonedTimes()], [['glance', 'look'], 0]);
    const dead = watched({ seems: true, is: true });
    dead.timers.pass(ownerGlanceMs - 1);
    assert.equal(dead.abandonedTimes(), 0);
    dead.timers.pass(1);
    assert.equal(dead.abandonedTimes(), 1);
    dead.timers.pass(ownerCheckMs);
    assert.equal(dead.abandonedTimes(), 1, 'started anew by whoever is told');
  });

  it('is not put off by another start, is idle while nothing is followed, and stops for good', () => {
    const busy = watched({ seems: true, is: true });
    busy.timers.pass(ownerGlanceMs - 1);
    busy.watch.start();
    busy.timers.pass(1);
    assert.equal(busy.abandonedTimes(), 1);
    busy.timers.pass(ownerGlanceMs);
    assert.equal(busy.abandonedTimes(), 1, 'the second start added no second watch');
    const own = watched({ seems: false, is: true, owner: 'here' });
    own.timers.pass(2 * ownerCheckMs);
    assert.deepEqual([own.looks, own.abandonedTimes()], [['glance'], 0]);
    const stopped = watched({ seems: true, is: true });
    stopped.watch.stop();
    stopped.watch.start();
    stopped.timers.pass(ownerCheckMs);
    assert.deepEqual([stopped.looks, stopped.abandonedTimes()], [[], 0]);
    own.watch.stop();
    own.facts.seems = true;
    own.watch.start();
    own.timers.pass(ownerCheckMs);
    assert.equal(own.abandonedTimes(), 0, 'also when nothing was followed at the time');
  });
});
