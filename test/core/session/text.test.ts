import assert from 'node:assert/strict';
import fc from 'fast-check';
import { byteLength, firstWords } from '../../../src/core/session/text.ts';

describe('Text helpers', () => {
  it('count bytes as an encoder does', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        assert.equal(byteLength(text), new TextEncoder().encode(text).length);
      }),
    );
    assert.equal(byteLength('a\ud83d'), 4, 'a lone surrogate counts as its replacement');
  });

  it('take the first words of a text for its title', () => {
    assert.deepEqual(
      ['', '  \n\n', '\n Fix  the\tbug \nplease', 'word '.repeat(30), 'x'.repeat(80), '悬'.repeat(80)].map(
        (text) => firstWords(text, 20),
      ),
      ['', '', 'Fix the bug', 'word word word word…', `${'x'.repeat(19)}…`, `${'悬'.repeat(19)}…`],
    );
  });

  it('never cut a title inside a character', () => {
    const title = firstWords('😀'.repeat(40), 20);
    assert.equal(title, `${'😀'.repeat(9)}…`);
  });
});
