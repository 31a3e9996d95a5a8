import assert from 'node:assert/strict';
import fc from 'fast-check';
import { globToRegExp } from '../../../src/core/tools/glob.ts';

describe('globs', function () {
  this.timeout(20_000); // a busy machine is no failure

  for (const [glob, matching, others] of [
    ['*.ts', ['a.ts', '.ts'], ['src/a.ts', 'a.tsx']],
    ['**/*.ts', ['a.ts', 'src/a.ts', 'a/b/c.ts'], ['a.js']],
    ['src/**', ['src/a', 'src/a/b'], ['src', 'lib/a']],
    ['src/**/test/*.ts', ['src/test/a.ts', 'src/a/b/test/c.ts'], ['src/test/a/b.ts']],
    ['{a,b}/*.{ts,js}', ['a/x.ts', 'b/x.js'], ['c/x.ts']],
    ['?.[ch]', ['a.c', 'b.h'], ['ab.c', 'a.d']],
    ['[!a].ts', ['b.ts'], ['a.ts', '/.ts']],
    ['./a+b(c).ts', ['a+b(c).ts'], ['aab(c).ts']],
    ['[', ['['], ['a']],
    ['[z-a]', ['[z-a]'], ['b']],
    ['👍?', ['👍a'], ['👍']],
  ] as const) {
    it(glob, () => {
      const pattern = globToRegExp(glob);
      assert.deepEqual(
        [...matching, ...others].filter((path) => pattern.test(path)),
        [...matching],
      );
    });
  }

  it('never fail, whatever a model writes', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (glob) => void globToRegExp(glob)));
    const signs = fc.constantFrom(
      '*',
      '?',
      '[',
      ']',
      '{',
      '}',
      ',',
      '!',
      '-',
      '^',
      '\\',
      '/',
      '.',
      'a',
      '&',
      '|',
      '~',
    );
    fc.assert(fc.property(fc.array(signs), (glob) => void globToRegExp(glob.join(''))));
  });
});
