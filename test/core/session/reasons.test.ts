import assert from 'node:assert/strict';
import { endReasonSchema } from '../../../src/core/session/model.ts';
import {
  isAutomatic,
  isBoundary,
  isEndedByUser,
  isRecoverable,
  mayEnd,
  mayEndAutomatically,
} from '../../../src/core/session/reasons.ts';

describe('The reasons that end a session', () => {
  it('are in the sets that the lifecycle says', () => {
    const sets = endReasonSchema.options.map((reason) => [
      reason,
      [
        isAutomatic(reason) && 'automatic',
        isRecoverable(reason) && 'recoverable',
        isBoundary(reason) && 'boundary',
        isEndedByUser(reason) && 'by user',
      ].filter(Boolean),
    ]);
    assert.deepEqual(Object.fromEntries(sets), {
      panel_closed: ['automatic', 'recoverable'],
      orphan_reap: ['automatic', 'recoverable'],
      idle_timeout: ['automatic', 'recoverable'],
      lru_evict: ['automatic', 'recoverable'],
      host_shutdown: ['automatic', 'recoverable'],
      crash: ['automatic', 'recoverable'],
      archived: ['by user'],
      session_reset: ['boundary', 'by user'],
      compaction: ['boundary'],
    });
  });

  it('stay as first written, but archive promotes over a recoverable one and never over a boundary', () => {
    const table = endReasonSchema.options.flatMap((first) =>
      endReasonSchema.options
        .filter((second) => mayEnd({ endReason: first }, second))
        .map((second) => [first, second]),
    );
    const recoverable = [
      'panel_closed',
      'orphan_reap',
      'idle_timeout',
      'lru_evict',
      'host_shutdown',
      'crash',
    ];
    assert.deepEqual(
      table,
      recoverable.flatMap((first) => [
        [first, 'archived'],
        [first, 'session_reset'],
      ]),
    );
    assert.ok(endReasonSchema.options.every((reason) => mayEnd({ endReason: null }, reason)));
  });

  it('of the automatic kind never end what a panel is or has shown', () => {
    const allowed = (['panel', 'cli', 'api'] as const).flatMap((source) =>
      [true, false].flatMap((runtimeIsPanel) =>
        [true, false].flatMap((wasShown) =>
          mayEndAutomatically({ source }, runtimeIsPanel, wasShown)
            ? [[source, runtimeIsPanel, wasShown]]
            : [],
        ),
      ),
    );
    assert.deepEqual(allowed, [
      ['cli', false, false],
      ['api', false, false],
    ]);
  });
});
