import assert from 'node:assert/strict';
import { replySlowly, startModelServer, type ModelServer } from '../../support/modelServer.ts';
import { ask, makeModel } from './modelRig.ts';

describe('the model server of the tests', function () {
  this.timeout(20_000); // a busy machine is no failure

  let server: ModelServer;
  beforeEach(async () => {
    server = await startModelServer();
  });
  afterEach(() => server.close());

  it('knows exactly what it wrote, and when', async () => {
    const text = 'One two three 👍 four five six. '.repeat(20);
    server.script(replySlowly(text, { chunksPerSecond: 500, chunkLength: 7 }));
    assert.equal((await ask(makeModel(server))).text, text);
    const [request] = server.requests;
    assert.equal(request?.sentText, text);
    assert.equal(request.sentLog.at(-1)?.length, text.length);
    assert.deepEqual(
      request.sentLog.map(({ at }) => at),
      request.sentLog.map(({ at }) => at).sort((one, other) => one - other),
    );
  });

  it('stops writing, and counts no further text, once the client has gone', async () => {
    server.script(replySlowly('word '.repeat(10_000), { chunksPerSecond: 1_000 }));
    const controller = new AbortController();
    await ask(makeModel(server), { signal: controller.signal, onEvent: () => controller.abort() });
    const [request] = server.requests;
    await request?.closed;
    const { length } = request?.sentText ?? '';
    await request?.send('more');
    assert.equal(request?.sentText.length, length);
    assert.ok(length < 50_000);
  });

  it('lets a test answer requests step by step, in the order they came', async () => {
    const first = ask(makeModel(server), { messages: [{ role: 'user', text: 'First' }] });
    const one = await server.waitForRequest();
    const second = ask(makeModel(server), { messages: [{ role: 'user', text: 'Second' }] });
    const other = await server.waitForRequest();
    assert.deepEqual([one.prompt, other.prompt], ['First', 'Second']);
    await other.send('2');
    await other.finish();
    assert.equal((await second).text, '2');
    await one.send('1');
    await one.finish();
    assert.equal((await first).text, '1');
    await assert.rejects(server.waitForRequest({ timeout: 1 }), /waited 1 ms in vain for request 3/);
  });
});
