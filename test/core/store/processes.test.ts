import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import * as path from 'node:path';
import { listChats } from '../../../src/core/store/sessions.ts';
import { addChat, makeFolder, openStore, textsOf } from './support/stores.ts';

const writerFile = path.join(import.meta.dirname, 'support', 'writer.ts');

class Writer {
  readonly acknowledged: string[] = [];
  readonly ended: Promise<unknown>;
  readonly #process: ChildProcess;
  #rest = '';
  #errors = '';

  constructor(folder: string, sessionId: string, name: string, count: number) {
    this.#process = spawn(
      process.execPath,
      ['--import=tsx', writerFile, folder, sessionId, name, String(count)],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    this.#process.stdout?.on('data', (chunk: Buffer) => {
      const lines = (this.#rest + chunk.toString()).split('\n');
      this.#rest = lines.pop() ?? '';
      this.acknowledged.push(...lines);
    });
    this.#process.stderr?.on('data', (chunk: Buffer) => void (this.#errors += chunk.toString()));
    this.ended = once(this.#process, 'close');
  }

  async until(count: number): Promise<void> {
    while (this.acknowledged.length < count) {
      assert.equal(this.#process.exitCode, null, this.#errors);
      if (this.#process.stdout !== null) await once(this.#process.stdout, 'data');
    }
  }

  kill(): Promise<unknown> {
    this.#process.kill('SIGKILL');
    return this.ended;
  }
}

describe('windows of several processes', function () {
  this.timeout(60_000);

  it('keep every change of each other, in order', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder });
    const session = await addChat(store);
    const writers = ['a', 'b'].map((name) => new Writer(folder, session.id, name, 100));
    await Promise.all(writers.map((writer) => writer.ended));
    const texts = textsOf(store, session.id);
    assert.equal(texts.length, 200);
    for (const [index, name] of ['a', 'b'].entries()) {
      const expected = Array.from({ length: 100 }, (_, number) => `${name} ${number}`);
      assert.deepEqual(
        texts.filter((text) => text.startsWith(name)),
        expected,
      );
      assert.deepEqual(writers[index]?.acknowledged, expected);
    }
  });

  it('keep every chat that each of them begins, whichever closes last', async () => {
    const folder = makeFolder();
    const writers = ['a', 'b'].map((name) => new Writer(folder, '', name, 100));
    await Promise.all(writers.map((writer) => writer.ended));
    const store = await openStore({ folder });
    const chats = store.read((reader) => listChats(reader, { archived: false, limit: 500 }));
    const told = writers.flatMap(({ acknowledged }) => acknowledged);
    assert.equal(told.length, 200);
    assert.deepEqual(chats.map(({ session }) => session.preview).sort(), told.sort());
  });

  it('lose nothing that was acknowledged when one is killed', async () => {
    const folder = makeFolder();
    const store = await openStore({ folder });
    const session = await addChat(store);
    const killed = new Writer(folder, session.id, 'k', 1_000_000);
    await killed.until(50);
    await killed.kill();
    const texts = textsOf(store, session.id);
    assert.deepEqual(texts.slice(0, killed.acknowledged.length), killed.acknowledged);
    assert.ok(texts.length <= killed.acknowledged.length + 1);
    await store.close();
    const again = await openStore({ folder });
    assert.deepEqual(textsOf(again, session.id), texts);
  });
});
