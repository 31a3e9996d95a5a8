import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as path from 'node:path';
import { rules } from '../mutations/rules.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

describe('The rules that are broken on purpose', () => {
  // Running them takes minutes and is not part of `npm test`; that they still fit their code is.
  it('name code that is there, and tests that are there', () => {
    const stale = rules.filter(({ source, find }) => !read(source).includes(find));
    const untested = rules.filter(({ test, title }) => !read(test).includes(title));
    assert.deepEqual(
      [...stale, ...untested].map(({ name }) => name),
      [],
    );
    assert.ok(rules.length > 80);
  });
});
