import assert from 'node:assert/strict';
import {
  failWith,
  reply,
  replyWithToolCalls,
  startModelServer,
  type ModelServer,
} from '../../support/modelServer.ts';
import { makeListFolderTool } from '../../../src/core/tools/listFolder.ts';
import { NodeWorkspace } from '../../../src/core/tools/nodeWorkspace.ts';
import { makeModel } from '../models/modelRig.ts';
import { rows, runWith } from './turnRig.ts';

describe('a turn over HTTP', function () {
  this.timeout(20_000); // a busy machine is no failure

  let server: ModelServer;
  beforeEach(async () => {
    server = await startModelServer();
  });
  afterEach(() => server.close());

  it('runs the tool the model asks for and sends its result back', async () => {
    const workspace = new NodeWorkspace([import.meta.dirname]);
    server.enqueue(
      replyWithToolCalls({ id: 'c1', name: 'list_folder', arguments: '{}' }),
      reply('That is all.'),
    );
    const { state, stopReason } = await runWith(makeModel(server), {
      tools: [makeListFolderTool(workspace)],
    });
    assert.equal(stopReason, 'complete');
    assert.deepEqual(
      state.messages.map((row) => [row.role, row.status]),
      [
        ['assistant', 'complete'],
        ['tool', 'complete'],
        ['assistant', 'complete'],
      ],
    );
    const told = server.requests[1]?.body.messages.at(-1);
    assert.ok(typeof told?.content === 'string' && told.content.includes('turnWithServer.test.ts'));
    assert.equal(told['tool_call_id'], 'c1');
  });

  it('keeps every character that came when Stop is pressed at any of them', async () => {
    for (let stopAfter = 1; stopAfter <= 12; stopAfter += 1) {
      const controller = new AbortController();
      server.enqueue(async (request) => {
        for (let piece = 0; !request.isClosed && piece < 12; piece += 1) await request.send(`${piece}👍`);
      });
      let seen = 0;
      const { state, stopReason } = await runWith(makeModel(server), {
        signal: controller.signal,
        onEvent: (event) => {
          if (event.type === 'textAppended' && (seen += 1) === stopAfter) controller.abort();
        },
      });
      assert.equal(stopReason, 'stopped');
      const expected = [...Array(stopAfter).keys()].map((piece) => `${piece}👍`).join('');
      assert.deepEqual(rows(state), [{ seq: 2, role: 'assistant', status: 'interrupted', text: expected }]);
      await server.requests.at(-1)?.closed;
    }
  });

  it('that breaks off keeps the text as interrupted; one that is refused is an error', async () => {
    server.enqueue(
      async (request) => {
        await request.send('Half');
        request.end();
      },
      failWith(500, { error: { message: 'boo' } }),
    );
    const broken = await runWith(makeModel(server));
    const refused = await runWith(makeModel(server));
    assert.deepEqual(
      [...rows(broken.state), ...rows(refused.state)],
      [
        { seq: 2, role: 'assistant', status: 'interrupted', text: 'Half', problem: 'truncated' },
        { seq: 2, role: 'assistant', status: 'error', text: '', problem: 'provider' },
      ],
    );
  });
});
