import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { judge, splitLines } from '../../../src/core/store/chain.ts';
import {
  crc32,
  decodePayload,
  encodeFrame,
  encodePayload,
  fitsInFrame,
  jsonBytes,
  portableCrc32,
  type Statement,
} from '../../../src/core/store/frame.ts';
import { normalizeValue } from '../../../src/core/store/openDatabase.ts';

const transaction = '01ARZ3NDEKTSV4RRFFQ69G5FAV';

const value = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
  fc.constant(null),
);
const statements = fc.array(
  fc.record({ sql: fc.string(), parameters: fc.array(value) }, { noNullPrototype: true }),
  { minLength: 1 },
);

function frameOf(list: readonly Statement[], seq = 7): Buffer {
  const payload = encodePayload({ type: 'statements', statements: list });
  return encodeFrame({ seq, previous: 0xabc, durable: seq - 2, transaction }, payload).bytes;
}

describe('journal frame', () => {
  it('comes back as it was written', () => {
    fc.assert(
      fc.property(statements, (list) => {
        const [line] = [...splitLines(frameOf(list))];
        assert.ok(line?.frame);
        const { seq, previous, durable } = line.frame;
        assert.deepEqual(
          { seq, previous, durable, transaction: line.frame.transaction },
          { seq: 7, previous: 0xabc, durable: 5, transaction },
        );
        assert.deepEqual(decodePayload(line.frame.json), { type: 'statements', statements: list });
      }),
    );
  });

  it('holds a statement once, however often it is repeated', () => {
    const sql = 'UPDATE sessions SET title = ? WHERE id = ?';
    const list = [1, 2, 3].map((id) => ({ sql, parameters: ['t', id] }));
    assert.equal(frameOf(list).toString().split(sql).length - 1, 1);
  });

  it('cut at any byte is never taken for a frame, but for the closing newline', () => {
    const bytes = frameOf([{ sql: 'x', parameters: ['line\nbreak', '中文', null, 1.5] }]);
    for (let length = 0; length < bytes.length - 1; length++) {
      const frames = [...splitLines(bytes.subarray(0, length))].filter(({ frame }) => frame !== null);
      assert.deepEqual(frames, [], `cut after ${length} bytes`);
    }
    assert.equal([...splitLines(bytes.subarray(0, bytes.length - 1))].length, 1);
  });

  it('with any bit flipped is not taken for another frame', () => {
    const bytes = frameOf([{ sql: 'UPDATE a SET b = ?', parameters: ['text'] }]);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      for (const { frame } of splitLines(flipped)) {
        if (frame === null) continue;
        assert.deepEqual(
          decodePayload(frame.json),
          decodePayload([...splitLines(bytes)][0]?.frame?.json ?? Buffer.alloc(0)),
        );
      }
    }
  });

  it('after a torn write is found again', () => {
    const bytes = frameOf([{ sql: 'x', parameters: [] }]);
    const torn = Buffer.concat([bytes.subarray(0, 20), bytes]);
    assert.deepEqual(
      [...splitLines(torn)].map(({ frame }) => frame?.seq ?? null),
      [null, 7],
    );
  });

  it('counts only behind its predecessor, and gives damage away', () => {
    const [line] = [...splitLines(frameOf([{ sql: 'x', parameters: [] }]))];
    assert.ok(line?.frame);
    const verdicts = [
      judge({ seq: 6, crc: 0xabc }, line.frame),
      judge({ seq: 6, crc: 0xabd }, line.frame),
      judge({ seq: 6, crc: 0xabd }, { ...line.frame, durable: 6 }),
      judge({ seq: 7, crc: 0xabc }, line.frame),
      judge({ seq: 5, crc: 1 }, line.frame),
      judge({ seq: 4, crc: 1 }, line.frame),
    ];
    assert.deepEqual(verdicts, ['counts', 'skipped', 'fork', 'skipped', 'skipped', 'gap']);
  });

  it('has the same checksum on every Node', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.nat(), (bytes, start) =>
        assert.equal(portableCrc32(bytes, start), crc32(bytes, start)),
      ),
    );
    assert.equal(portableCrc32(Buffer.from('123456789')), 0xcbf43926);
  });

  it('says of any values whether they fit, measured or not', () => {
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.double({ noNaN: true }), fc.constant(null));
    fc.assert(
      fc.property(fc.array(value), fc.nat({ max: 400 }), (values, room) => {
        assert.equal(fitsInFrame(values, room), jsonBytes(values) <= room);
      }),
    );
  });

  it('keeps half of a surrogate pair out of the journal', () => {
    assert.equal(normalizeValue('a\ud83d b'), 'a\ufffd b');
    assert.equal(normalizeValue('👍🏽'), '👍🏽');
    assert.throws(() => normalizeValue(Number.NaN), { reason: 'invalid_value' });
  });
});
