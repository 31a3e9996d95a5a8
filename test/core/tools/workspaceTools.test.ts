import assert from 'node:assert/strict';
import { chmod, mkdir, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeFolder, removeFolders, run } from './toolRig.ts';
import { skipBecause } from '../../support/vscode/skip.ts';

const files = {
  'src/a.ts': 'one\ntwo\nthree\n',
  'src/deep/b.test.ts': 'two',
  'README.md': '# Shop\n',
  'node_modules/x/index.js': 'two',
  '.git/config': 'two',
};

describe('the workspace tools', function () {
  this.timeout(20_000); // a busy machine is no failure

  let folder = '';
  before(async () => {
    folder = await makeFolder(files);
    await mkdir(join(folder, 'empty'));
  });
  after(removeFolders);

  const cases: [string, string, unknown, string, boolean][] = [
    [
      'all files but ignored ones',
      'find_files',
      { pattern: '**' },
      'README.md\nsrc/a.ts\nsrc/deep/b.test.ts',
      false,
    ],
    ['files by a glob', 'find_files', { pattern: '**/*.test.{ts,js}' }, 'src/deep/b.test.ts', false],
    ['files by a part of their path, in any case', 'find_files', { pattern: 'readme' }, 'README.md', false],
    ['no file', 'find_files', { pattern: '*.py' }, '(No file matches *.py.)', false],
    ['the top folder', 'list_folder', {}, '.git/\nempty/\nnode_modules/\nsrc/\nREADME.md', false],
    ['a folder', 'list_folder', { path: './src/' }, 'deep/\na.ts', false],
    ['an empty folder', 'list_folder', { path: 'empty' }, '(empty is empty.)', false],
    ['a missing folder', 'list_folder', { path: 'nope' }, 'nope does not exist.', true],
    ['a file as folder', 'list_folder', { path: 'README.md' }, 'README.md is not a folder.', true],
    [
      'a whole file',
      'read_file',
      { path: 'src/a.ts' },
      'src/a.ts, lines 1-3 of 3\n1\tone\n2\ttwo\n3\tthree',
      false,
    ],
    [
      'lines of a file',
      'read_file',
      { path: 'src/a.ts', startLine: 2, endLine: 9 },
      'src/a.ts, lines 2-3 of 3\n2\ttwo\n3\tthree',
      false,
    ],
    [
      'lines written as text',
      'read_file',
      { path: 'src/a.ts', startLine: '3' },
      'src/a.ts, lines 3-3 of 3\n3\tthree',
      false,
    ],
    ['a missing file', 'read_file', { path: 'src/no.ts' }, 'src/no.ts does not exist.', true],
    ['a folder as file', 'read_file', { path: 'src' }, 'src is a folder; use list_folder.', true],
    [
      'lines beyond the end',
      'read_file',
      { path: 'src/a.ts', startLine: 4 },
      'src/a.ts has only 3 lines; startLine is 4.',
      true,
    ],
    [
      'lines backwards',
      'read_file',
      { path: 'src/a.ts', startLine: 2, endLine: 1 },
      'endLine 1 comes before startLine 2.',
      true,
    ],
    ['a text', 'search_text', { query: 'TWO' }, 'src/a.ts:2: two\nsrc/deep/b.test.ts:1: two', false],
    [
      'a text in its case',
      'search_text',
      { query: 'TWO', caseSensitive: true },
      '(Nothing found for TWO.)',
      false,
    ],
    ['a text with signs', 'search_text', { query: 't.o' }, '(Nothing found for t.o.)', false],
    [
      'a pattern',
      'search_text',
      { query: '^t.o', mode: 'regex' },
      'src/a.ts:2: two\nsrc/deep/b.test.ts:1: two',
      false,
    ],
    ['a text in some files', 'search_text', { query: 'two', glob: 'src/*.ts' }, 'src/a.ts:2: two', false],
    [
      'a few results',
      'search_text',
      { query: 'two', maxResults: 1 },
      'src/a.ts:2: two\n(Stopped after 1 results; there may be more.)',
      false,
    ],
  ];
  for (const [what, name, input, text, isError] of cases) {
    it(`${name}: ${what}`, async () => {
      assert.deepEqual(await run([folder], name, input), { text, isError });
    });
  }

  for (const [name, input, sentence] of [
    ['read_file', {}, /arguments of read_file do not fit.*path/],
    ['read_file', { path: 'src/a.ts', startLine: 0 }, /startLine/],
    ['search_text', { query: ' ' }, /query: must not be empty/],
    ['search_text', { query: '(', mode: 'regex' }, /not a valid regular expression/],
    ['search_text', { query: 'a', mode: 'magic' }, /mode/],
    ['search_text', { query: '?!', mode: 'words' }, /has no words.*use the mode text/],
    ['find_files', null, /arguments of find_files/],
  ] as const) {
    it(`${name} explains what is wrong with ${JSON.stringify(input)}`, async () => {
      const { text, isError } = await run([folder], name, input);
      assert.equal(isError, true);
      assert.match(text, sentence);
    });
  }

  it('say so when no folder is open', async () => {
    for (const name of ['search_text', 'find_files', 'list_folder', 'read_file']) {
      const { text, isError } = await run([], name, { query: 'a', pattern: 'a', path: 'a' });
      assert.deepEqual([text, isError], ['No folder is open, so there are no files to look at.', true]);
    }
  });

  it('put the folder name before paths only when several are open, and tell equal names apart', async () => {
    const parent = await makeFolder({ 'app/a.ts': 'two', 'other/app/a.ts': 'two' });
    const roots = [join(parent, 'app'), join(parent, 'other/app')];
    assert.equal(
      (await run(roots, 'search_text', { query: 'two' })).text,
      'app/a.ts:1: two\napp-2/a.ts:1: two',
    );
    assert.equal((await run(roots, 'list_folder', {})).text, 'app/\napp-2/');
    assert.equal(
      (await run(roots, 'read_file', { path: 'app-2/a.ts' })).text,
      'app-2/a.ts, lines 1-1 of 1\n1\ttwo',
    );
    assert.match(
      (await run(roots, 'read_file', { path: 'a.ts' })).text,
      /does not start with the name of an open folder \(app, app-2\)/,
    );
  });
});

describe('paths that lead outside the workspace', function () {
  this.timeout(20_000); // a busy machine is no failure

  after(removeFolders);

  it('are refused, by words and through links', async () => {
    const outside = await makeFolder({ 'secret.txt': 'password two' });
    const folder = await makeFolder({ 'in.txt': 'two' });
    await symlink(join(outside, 'secret.txt'), join(folder, 'link.txt'));
    await symlink(outside, join(folder, 'linked'));
    await symlink(join(folder, 'in.txt'), join(folder, 'inner.txt'));
    await symlink(folder, join(folder, 'loop'));
    await symlink(join(folder, 'gone'), join(folder, 'broken.txt'));
    const paths = [
      join(outside, 'secret.txt'),
      `../${basename(outside)}/secret.txt`,
      'a/../../secret.txt',
      '..\\secret.txt',
      'C:\\secret.txt',
      'link.txt',
      'linked/secret.txt',
    ];
    for (const path of paths) {
      const { text, isError } = await run([folder], 'read_file', { path });
      assert.equal(isError, true, path);
      assert.ok(!text.includes('password'), path);
    }
    assert.equal((await run([folder], 'list_folder', { path: 'linked' })).isError, true);
    assert.equal(
      (await run([folder], 'search_text', { query: 'two' })).text,
      'in.txt:1: two\ninner.txt:1: two',
    );
    assert.equal((await run([folder], 'find_files', { pattern: '*' })).text, 'in.txt\ninner.txt');
  });

  it('do not include a sibling whose name begins like the folder', async () => {
    const parent = await makeFolder({ 'app/a.ts': '', 'app-secret/b.txt': 'password' });
    await symlink(join(parent, 'app-secret'), join(parent, 'app/linked'));
    const { text } = await run([join(parent, 'app')], 'read_file', { path: 'linked/b.txt' });
    assert.equal(text, 'linked/b.txt leads outside the workspace.');
  });
});

describe('files of every kind', function () {
  this.timeout(20_000); // a busy machine is no failure

  after(removeFolders);

  it('binary and huge ones are not searched, not read, and said to be so', async () => {
    const folder = await makeFolder({
      'picture.png': Buffer.from([0x89, 0x50, 0, 0, 0x74, 0x77, 0x6f]),
      'huge.txt': 'two\n'.repeat(300_000),
      'utf16.txt': Buffer.from('\uFEFFtwo', 'utf16le'),
      'latin.txt': Buffer.from([0x74, 0x77, 0x6f, 0xe9]),
      'bom.txt': '\uFEFFtwo',
      'empty.txt': '',
    });
    assert.equal(
      (await run([folder], 'search_text', { query: 'two' })).text,
      'bom.txt:1: two\nlatin.txt:1: two\uFFFD\nutf16.txt:1: two',
    );
    assert.equal(
      (await run([folder], 'read_file', { path: 'picture.png' })).text,
      'picture.png is not a text file.',
    );
    assert.equal((await run([folder], 'read_file', { path: 'empty.txt' })).text, 'empty.txt is empty.');
  });

  it('are read in bounded parts, and the result says how to go on', async () => {
    const folder = await makeFolder({
      'long.txt': 'x\n'.repeat(1_000),
      'wide.txt': `${'y'.repeat(5_000)}\n`.repeat(100),
    });
    const long = await run([folder], 'read_file', { path: 'long.txt' });
    assert.match(long.text, /^long\.txt, lines 1-400 of 1000\n/);
    assert.match(long.text, /\(Cut here; ask again with startLine 401\.\)$/);
    assert.ok((await run([folder], 'read_file', { path: 'wide.txt' })).text.length < 45_000);
  });

  it('that cannot be read do not end a search', async function () {
    if (process.getuid?.() === 0) skipBecause(this, 'root reads every file, whatever its permissions');
    const folder = await makeFolder({ 'a.txt': 'two', 'closed.txt': 'two', 'shut/b.txt': 'two' });
    await chmod(join(folder, 'closed.txt'), 0);
    await chmod(join(folder, 'shut'), 0);
    assert.equal((await run([folder], 'search_text', { query: 'two' })).text, 'a.txt:1: two');
    await chmod(join(folder, 'shut'), 0o755);
  });
});

describe('a search that would take too long', function () {
  this.timeout(20_000); // a busy machine is no failure

  after(removeFolders);

  it('ends when Stop is pressed', async () => {
    const folder = await makeFolder({ 'a.txt': 'two' });
    await assert.rejects(run([folder], 'search_text', { query: 'two' }, { signal: AbortSignal.abort() }), {
      name: 'AbortError',
    });
  });

  it('ends by its time limit and says what it left out', async () => {
    const many = Object.fromEntries([...Array(40).keys()].map((index) => [`f${index}.txt`, 'two']));
    const folder = await makeFolder(many);
    let clock = 0;
    const { text } = await run([folder], 'search_text', { query: 'two' }, { now: () => (clock += 6_000) });
    assert.match(text, /\(Stopped after 10 seconds with 24 files left\.\)$/);
  });

  it('ends when its regular expression runs away, and tells the model', async () => {
    const folder = await makeFolder({ 'a.txt': `${'a'.repeat(60)}b` });
    const { text, isError } = await run([folder], 'search_text', { query: '(a+)+$', mode: 'regex' });
    assert.equal(isError, true);
    assert.match(text, /takes too long.*something simpler/);
  });
});
