import assert from 'node:assert/strict';
import fc from 'fast-check';
import { GrowingText, type Block } from '../../src/webview/markdown/growingText.ts';
import { parseBlocks } from '../../src/webview/markdown/parser.ts';

const lines = fc.constantFrom(
  'A paragraph of words',
  '',
  '',
  '# Heading',
  '#tag',
  '- item',
  '  - inner',
  '1. one',
  '    indented',
  '> quote',
  '```ts',
  '```',
  '````',
  '~~~',
  'const a = `b`;',
  '| a | b |',
  '| --- | --- |',
  '---',
  '===',
  '* * *',
  '[x](https://example.com)',
);

/** What of a token decides what is shown. */
function shown(blocks: readonly Pick<Block, 'tokens'>[]) {
  return blocks.map(({ tokens }) =>
    tokens.map(({ type, tag, content, info, hidden, level }) => [type, tag, content, info, hidden, level]),
  );
}

describe('A growing Markdown text', () => {
  it('is at every moment what a whole parse of the same text gives', () => {
    fc.assert(
      fc.property(
        fc.array(lines, { maxLength: 14 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 20 }),
        (parts, sizes) => {
          const text = parts.join('\n');
          const growing = new GrowingText();
          let end = 0;
          for (let step = 0; end < text.length; step += 1) {
            end += sizes[step % sizes.length] ?? 1;
            const prefix = text.slice(0, end);
            assert.deepEqual(shown(growing.update(prefix, false)), shown(parseBlocks(prefix, {})));
          }
          assert.deepEqual(shown(growing.update(text, true)), shown(parseBlocks(text, {})));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('keeps closed blocks by identity and parses only the open end', () => {
    const growing = new GrowingText();
    let text = 'First.\n\n```ts\nSecond.\n```\n\nThi';
    const [first, second] = growing.update(text, false);
    for (let index = 0; index < 50; index += 1) text += ' word';
    const later = growing.update(text, false);
    assert.equal(later[0]?.tokens, first?.tokens);
    assert.equal(later[1]?.tokens, second?.tokens);
    assert.deepEqual(
      later.map(({ isOpen }) => isOpen),
      [false, false, true],
    );
  });
});
