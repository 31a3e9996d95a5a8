import assert from 'node:assert/strict';
import fc from 'fast-check';
import { EventStreamParser, type ServerEvent } from '../../../src/core/models/eventStream.ts';

function parse(bytes: Uint8Array, cuts: readonly number[]): ServerEvent[] {
  const parser = new EventStreamParser();
  const places = [...cuts].map((cut) => cut % (bytes.length + 1)).sort((one, other) => one - other);
  const found: ServerEvent[] = [];
  let start = 0;
  for (const place of [...places, bytes.length]) {
    found.push(...parser.push(bytes.subarray(start, place)));
    start = place;
  }
  return [...found, ...parser.end()];
}

describe('EventStreamParser', function () {
  this.timeout(20_000); // a busy machine is no failure

  it('gives the same events however the bytes are cut', () => {
    const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
    const line = fc.constantFrom(
      'data: {"a":"ь中👩‍👩‍👧"}',
      'data:{"b":1}',
      ': comment',
      'event: ping',
      '',
      'id: 4',
    );
    fc.assert(
      fc.property(fc.array(line), lineEnd, fc.array(fc.nat(400)), (lines, end, cuts) => {
        const bytes = Buffer.from(lines.map((text) => text + end).join(''));
        assert.deepEqual(parse(bytes, cuts), parse(bytes, []));
      }),
    );
  });

  it('reads the same from all line ends', () => {
    const text = 'event: x\ndata: 1\ndata: 2\n\ndata: 3\n\n';
    for (const end of ['\r\n', '\r', '\n']) {
      assert.deepEqual(parse(Buffer.from(text.replaceAll('\n', end)), []), [
        { event: 'x', data: '1\n2' },
        { event: '', data: '3' },
      ]);
    }
  });
});
