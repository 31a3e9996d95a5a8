import assert from 'node:assert/strict';
import { makeModelCatalog } from '../../../src/core/models/catalog.ts';
import { parseProviders } from '../../../src/core/models/providerSettings.ts';
import { reply, startModelServer } from '../../support/modelServer.ts';
import { ask } from './modelRig.ts';

const ollama = { name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', models: ['qwen3'] };

function makeCatalog(providers: unknown): ReturnType<typeof makeModelCatalog> {
  return makeModelCatalog({ providers, apiKey: () => Promise.resolve(null), guidePaceMs: 0 });
}

describe('the model catalog', function () {
  this.timeout(20_000); // a busy machine is no failure

  for (const [what, setting] of [
    ['nothing is configured', undefined],
    ['the list is empty', []],
    ['the setting is no list', 'gpt'],
    ['no entry is usable', [{}]],
  ] as const) {
    it(`offers the offline guide first when ${what}`, () => {
      const catalog = makeCatalog(setting);
      assert.deepEqual(
        catalog.choices.map(({ id, name }) => [id, name]),
        [['offline', 'Offline guide']],
      );
      assert.equal(catalog.model('offline')?.id, 'offline');
    });
  }

  it('offers configured models by stable ids, the offline guide after them', () => {
    const models = ['small', { id: 'vendor/large', name: 'Large' }, { id: 'plain' }];
    const catalog = makeCatalog([ollama, { ...ollama, id: 'router', name: 'Open Router', models }]);
    assert.deepEqual(catalog.problems, []);
    assert.deepEqual(
      catalog.choices.map(({ id, name, detail }) => [id, name, detail]),
      [
        ['ollama/qwen3', 'qwen3', 'Ollama'],
        ['router/small', 'small', 'Open Router'],
        ['router/vendor/large', 'Large', 'Open Router'],
        ['router/plain', 'plain', 'Open Router'],
        ['offline', 'Offline guide', 'Searches this workspace; no model needed'],
      ],
    );
    assert.deepEqual(
      catalog.choices.map(({ id }) => catalog.model(id)?.id),
      catalog.choices.map(({ id }) => id),
    );
    assert.equal(catalog.model('gone/model'), null);
  });

  it('asks the chosen endpoint with the key of its provider', async () => {
    const server = await startModelServer();
    const asked: string[] = [];
    const catalog = makeModelCatalog({
      providers: [{ ...ollama, baseUrl: `${server.baseUrl}/`, apiKeyName: 'mine' }],
      apiKey: (name) => Promise.resolve(`key-of-${asked[asked.push(name) - 1] ?? ''}`),
    });
    const model = catalog.model('ollama/qwen3');
    assert.ok(model !== null);
    server.enqueue(reply('Hello'));
    assert.equal((await ask(model)).text, 'Hello');
    const [request] = server.requests;
    assert.deepEqual(
      [asked, request?.path, request?.body.model, request?.headers['authorization']],
      [['mine'], '/v1/chat/completions', 'qwen3', 'Bearer key-of-mine'],
    );
    await server.close();
  });
});

describe('a malformed entry of holdfast.providers', () => {
  const cases: [string, unknown, RegExp][] = [
    ['no object', 'ollama', /entry 1: it must be an object; write for example \{ "name"/],
    ['null', null, /entry 1: it must be an object/],
    [
      'without a name',
      { ...ollama, name: undefined },
      /entry 1: name is missing; write what the model picker shall show/,
    ],
    ['with an empty name', { ...ollama, name: ' ' }, /entry 1: name is empty/],
    [
      'without an address',
      { ...ollama, baseUrl: undefined },
      /entry 1 \("Ollama"\): baseUrl is missing; write for example "http/,
    ],
    [
      'with an address that is none',
      { ...ollama, baseUrl: 'localhost:11434' },
      /baseUrl is not an address; write for example/,
    ],
    ['with a file as address', { ...ollama, baseUrl: 'file:///etc/passwd' }, /baseUrl is not an address/],
    [
      'with a password in its address',
      { ...ollama, baseUrl: 'http://me:word@host/v1' },
      /holds a user name or password; store the key/,
    ],
    [
      'without models',
      { ...ollama, models: undefined },
      /models must be a list of names; write for example \["gpt-5-mini"\]/,
    ],
    ['with an empty list of models', { ...ollama, models: [] }, /models must be a list of names/],
    ['with a model that is a number', { ...ollama, models: [4] }, /models must be a list of names/],
    ['with an id that is no word', { ...ollama, id: 'a/b' }, /id may hold letters/],
    [
      'with a reserved id',
      { ...ollama, id: 'offline' },
      /the id "offline" is taken; give it an "id" of its own/,
    ],
  ];
  for (const [what, entry, sentence] of cases) {
    it(`${what} is named in a sentence, and the others still work`, () => {
      const before = { ...ollama, name: 'Before' };
      const good = { ...ollama, name: 'Good' };
      const { providers, problems } = parseProviders([entry, before, good]);
      assert.deepEqual(
        providers.map(({ name }) => name),
        ['Before', 'Good'],
      );
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', sentence);
      assert.match(problems[0] ?? '', /^The setting holdfast\.providers, entry 1.*\.$/);
      assert.ok(!(problems[0] ?? '').includes('word@'));
    });
  }

  it('twice by the same name is told apart by its id', () => {
    const { providers, problems } = parseProviders([ollama, ollama, { ...ollama, id: 'second' }]);
    assert.deepEqual(
      providers.map(({ id }) => id),
      ['ollama', 'second'],
    );
    assert.match(problems.join(), /entry 2 \("Ollama"\): the id "ollama" is taken/);
  });

  it('with the address of the request itself is understood', () => {
    const { providers } = parseProviders([{ ...ollama, baseUrl: 'https://x.example/v1/chat/completions/' }]);
    assert.equal(providers[0]?.baseUrl, 'https://x.example/v1');
  });
});
