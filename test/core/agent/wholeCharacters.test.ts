import assert from 'node:assert/strict';
import fc from 'fast-check';
import { toWholeCharacters, WholeCharacters } from '../../../src/core/agent/wholeCharacters.ts';

describe('WholeCharacters', function () {
  this.timeout(20_000); // a busy machine is no failure

  it('holds half a character back until its other half comes', () => {
    const [high = '', low = ''] = '👍'.split('');
    const characters = new WholeCharacters();
    assert.deepEqual(
      [characters.push(`ok ${high}`), characters.push(`${low}!`), characters.end()],
      ['ok ', '👍!', ''],
    );
  });

  it('replaces what never becomes whole', () => {
    const characters = new WholeCharacters();
    assert.deepEqual([characters.push('a\uDC00b\uD83D'), characters.end()], ['a\uFFFDb', '\uFFFD']);
  });

  it('gives any text, cut anywhere, back as its UTF-8 encoding would', () => {
    const unit = fc.constantFrom('a', '中', '\uD83D', '\uDC4D', '👍', '\uDC00', 'é');
    fc.assert(
      fc.property(fc.array(unit), fc.array(fc.nat(5)), (units, cuts) => {
        const whole = units.join('');
        const characters = new WholeCharacters();
        const pieces: string[] = [];
        let rest = whole;
        for (const cut of cuts) {
          pieces.push(characters.push(rest.slice(0, cut)));
          rest = rest.slice(cut);
        }
        pieces.push(characters.push(rest), characters.end());
        assert.equal(pieces.join(''), Buffer.from(whole, 'utf8').toString('utf8'));
        for (const piece of pieces) assert.equal(piece, toWholeCharacters(piece));
      }),
    );
  });
});
