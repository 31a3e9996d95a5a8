/** Windows of real processes that are killed while they chat. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { ulid } from 'ulid';
import * as v from 'valibot';
import type { ChatModel } from '../../../src/core/models/chatModel.ts';
import { loadChat } from '../../../src/core/runtime/loadChat.ts';
import { recoverInterrupted } from '../../../src/core/runtime/recovery.ts';
import type { Message } from '../../../src/core/session/model.ts';
import { getLease } from '../../../src/core/store/leases.ts';
import { listChats } from '../../../src/core/store/sessions.ts';
import { Store } from '../../../src/core/store/store.ts';
import { buildNodeProgram } from '../../support/nodeProgram.ts';
import { openRegistry } from '../../support/runtimes.ts';
import { wasmFile } from '../store/support/values.ts';

const kills = Number(process.env['HOLDFAST_KILLS'] ?? 10);
const seed = Number(process.env['HOLDFAST_SEED'] ?? 1);
/** What was shown for longer than this is on disk, in milliseconds. */
const lossBound = 250;
/** A window that chats prints every few milliseconds; one that printed nothing for longer did not run. */
const mostPause = 20;

const lineSchema = v.object({
  kind: v.picklist(['sent', 'said', 'answered']),
  chat: v.string(),
  text: v.string(),
  at: v.number(),
});
type Line = Readonly<v.InferOutput<typeof lineSchema>>;

class ChattyWindow {
  readonly lines: Line[] = [];
  readonly ended: Promise<unknown>;
  readonly #process: ChildProcess;
  #rest = '';
  #errors = '';
  #isKilled = false;

  constructor(program: string, folder: string, name: string, chats: readonly string[]) {
    this.#process = spawn(process.execPath, [program, folder, wasmFile, name, ...chats], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process.stdout?.on('data', (chunk: Buffer) => {
      const lines = (this.#rest + chunk.toString()).split('\n');
      this.#rest = lines.pop() ?? '';
      this.lines.push(...lines.map((line) => v.parse(lineSchema, JSON.parse(line))));
    });
    this.#process.stderr?.on('data', (chunk: Buffer) => void (this.#errors += chunk.toString()));
    this.ended = once(this.#process, 'close');
  }

  get isKilled(): boolean {
    return this.#isKilled;
  }

  /** Resolves once it has printed so many lines. */
  async until(count: number): Promise<void> {
    while (this.lines.length < count) {
      assert.equal(this.#process.exitCode, null, this.#errors);
      if (this.#process.stdout !== null) await once(this.#process.stdout, 'data');
    }
  }

  async kill(): Promise<void> {
    this.#isKilled = true;
    this.#process.kill('SIGKILL');
    await this.ended;
  }
}

describe('Chats of windows that are killed', function () {
  this.timeout(20_000 + kills * 10_000);

  it(`keep what was acknowledged, and all but the last quarter of a second of an answer; they stay open (${kills} kills)`, async () => {
    const temporary = mkdtempSync(join(tmpdir(), 'holdfast-kills-'));
    const folder = join(temporary, 'store');
    const program = await bundle(temporary);
    const chats = [ulid(), ulid(), ulid()];
    const windows: ChattyWindow[] = [];
    const moments = fc.sample(fc.nat(250), { numRuns: kills, seed });
    const start = (): ChattyWindow => {
      const window = new ChattyWindow(program, folder, `w${windows.length}`, chats);
      windows.push(window);
      return window;
    };
    try {
      let victim = start();
      for (const moment of moments) {
        const next = start();
        await victim.until(moment);
        await victim.kill();
        await check(folder, windows, chats);
        victim = next;
      }
      await victim.until(1);
      await victim.kill();
      await check(folder, windows, chats);
    } finally {
      await Promise.all(windows.map((window) => window.kill()));
      rmSync(temporary, { recursive: true, force: true });
    }
  });

  it('are taken on by a window that follows them, within three seconds', async () => {
    const temporary = mkdtempSync(join(tmpdir(), 'holdfast-kills-'));
    const folder = join(temporary, 'store');
    const chat = ulid();
    const owner = new ChattyWindow(await bundle(temporary), folder, 'owner', [chat]);
    let store: Store | null = null;
    try {
      await owner.until(2);
      store = await Store.open({ folder, wasm: wasmFile, checkpointWorkerFile: null, windowId: ulid() });
      const registry = openRegistry(store, silentModel);
      const runtime = await registry.open(chat);
      while (runtime.state.owner === 'here') await pause(1); // it lets go between its turns
      await owner.kill();
      const killedAt = performance.now();
      assert.equal(runtime.state.owner, 'elsewhere', 'it died while it wrote');
      while (runtime.state.owner === 'elsewhere') await pause(10);
      const took = performance.now() - killedAt;
      assert.ok(took < 3000, `it took ${took} ms`);
      await registry.shutDown();
    } finally {
      await owner.kill();
      await store?.close();
      rmSync(temporary, { recursive: true, force: true });
    }
  });
});

const silentModel: ChatModel = {
  id: 'silent',
  name: 'silent',
  // eslint-disable-next-line require-yield
  async *stream() {
    throw new Error('Nobody asks here.');
  },
};

function bundle(folder: string): Promise<string> {
  return buildNodeProgram(folder, 'chattyWindow', 'test/core/lifecycle/chattyWindow.ts');
}

/** Opens the folder as a window that starts, and compares. */
async function check(
  folder: string,
  windows: readonly ChattyWindow[],
  chats: readonly string[],
): Promise<void> {
  const windowId = ulid();
  const store = await Store.open({ folder, wasm: wasmFile, checkpointWorkerFile: null, windowId });
  try {
    await recoverInterrupted(store, (id) => store.isWindowAlive(id), Date.now());
    const known = windows.map((window) => ({ isKilled: window.isKilled, lines: [...window.lines] }));
    for (const chat of chats) {
      // In one read: windows go on chatting meanwhile.
      const { loaded, lease } = store.read((reader) => ({
        loaded: loadChat(reader, chat),
        lease: getLease(reader, chat),
      }));
      const lines = known.flatMap((window) => window.lines.filter((line) => line.chat === chat));
      if (loaded === null) {
        assert.equal(lines.length, 0, 'a chat is gone');
        continue;
      }
      assert.equal(loaded.session.endReason, null);
      assertHolds(loaded.messages, lines);
      for (const window of known.filter(({ isKilled }) => isKilled)) {
        assertWithinBound(loaded.messages, chat, window.lines);
      }
      const isWritten = lease?.isHeld === true && store.isWindowAlive(lease.windowId);
      const streams = loaded.messages.filter(({ status }) => status === 'streaming').length;
      assert.ok(streams === 0 || (isWritten && streams === 1), 'an answer of the dead is shown as running');
    }
    const { listed, started } = store.read((reader) => ({
      listed: listChats(reader, { archived: false, limit: 10 }).map(({ session }) => session.id),
      started: chats.filter((chat) => loadChat(reader, chat) !== null),
    }));
    assert.deepEqual(listed.sort(), started.sort());
  } finally {
    await store.close();
  }
}

/** Every acknowledged prompt and answer is there once. */
function assertHolds(messages: readonly Message[], lines: readonly Line[]): void {
  for (const { kind, text } of lines.filter((line) => line.kind !== 'said')) {
    const role = kind === 'sent' ? 'user' : 'assistant';
    const found = messages.filter((message) => message.role === role && message.text === text);
    assert.equal(found.length, 1, `"${text}" was acknowledged and is there ${found.length} times`);
  }
  const prompts = messages.filter(({ role }) => role === 'user').map(({ text }) => text);
  assert.equal(new Set(prompts).size, prompts.length, 'a prompt is there twice');
}

/**
 * Measured by the clock of the window itself: it lived at least until its last line. Its timers can only run when it does, so
 * time in which a busy machine let it do nothing does not count.
 */
function assertWithinBound(messages: readonly Message[], chat: string, lines: readonly Line[]): void {
  let lived = 0;
  const said = lines.map((line, index) => {
    lived += Math.min(line.at - (lines[index - 1]?.at ?? line.at), mostPause);
    return { ...line, lived };
  });
  const old = said.filter((line) => line.kind === 'said' && line.lived < lived - lossBound);
  for (const { text } of old.filter((line) => line.chat === chat)) {
    const isThere = messages.some((message) => message.role === 'assistant' && message.text.startsWith(text));
    assert.ok(isThere, `"${text}" was shown for longer than ${lossBound} ms and is lost`);
  }
}
