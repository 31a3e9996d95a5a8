/** Durable appends from one process, ours against Node's SQLite. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import type { Message } from '../../../src/core/session/model.ts';
import { insertMessage } from '../../../src/core/store/messages.ts';
import { insertSession } from '../../../src/core/store/sessions.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { single, type BenchContext, type Benchmark, type Outcome } from '../benchmark.ts';
import { NativeStore } from '../nativeStore.ts';
import { interleave, median, medianRatio, short, timed } from '../statistics.ts';
import { checkpointSettled, openStore } from '../stores.ts';
import { Conversations, deckSize, w1 } from '../workloads.ts';

const messageBytes = 1000;
const perRound = 100;
const rounds = 30;

/** What one side of a pair does in a round. */
interface Sides {
  readonly ours: Store;
  readonly native: NativeStore;
  readonly conversations: Conversations;
  readonly folder: string;
}

async function withSides<T>(context: BenchContext, use: (sides: Sides) => Promise<T>): Promise<T> {
  const folder = context.makeFolder();
  const nativeFolder = context.makeFolder();
  const ours = await openStore(folder, context.checkpointWorkerFile);
  const native = await NativeStore.open(nativeFolder);
  try {
    return await use({ ours, native, conversations: new Conversations(1), folder });
  } finally {
    native.close();
    await checkpointSettled(ours);
    await ours.close();
  }
}

/** A new chat on both sides, with messages to add to it. */
async function newChat(
  { ours, native, conversations }: Sides,
  make: (sessionId: string) => Message[],
): Promise<Message[]> {
  const session = conversations.chat();
  await ours.write((writer) => insertSession(writer, session));
  native.write((writer) => insertSession(writer, session));
  return make(session.id);
}

async function appendOurs(store: Store, messages: readonly Message[], window: number): Promise<void> {
  const pending: Promise<number>[] = [];
  for (const message of messages) {
    pending.push(store.write((writer) => insertMessage(writer, message)));
    if (pending.length >= window) await pending.shift();
  }
  await Promise.all(pending);
}

function appendNative(store: NativeStore, messages: readonly Message[]): void {
  for (const message of messages) store.write((writer) => insertMessage(writer, message));
}

function smallMessages({ conversations }: Sides): (sessionId: string) => Message[] {
  return (sessionId) =>
    Array.from({ length: perRound }, (_, index) => conversations.message(sessionId, messageBytes, index));
}

async function compare(context: BenchContext, window: number): Promise<Outcome> {
  return withSides(context, async (sides) => {
    const bare = fs.openSync(path.join(sides.folder, 'bare'), 'a', 0o600);
    const bytes = Buffer.alloc(messageBytes, 'x');
    const make = smallMessages(sides);
    const [ours = [], native = [], floor = []] = await interleave(rounds, [
      async () => {
        const messages = await newChat(sides, make);
        return timed(() => appendOurs(sides.ours, messages, window));
      },
      async () => {
        const messages = await newChat(sides, make);
        return timed(() => appendNative(sides.native, messages));
      },
      () =>
        timed(() => {
          for (let index = 0; index < perRound; index++) {
            fs.writeSync(bare, bytes);
            fs.fdatasyncSync(bare);
          }
        }),
    ]);
    fs.closeSync(bare);
    const each = (values: readonly number[]): string => `${short(median(values) / perRound)} ms`;
    return {
      value: medianRatio(ours, native),
      note: `ours ${each(ours)}, native ${each(native)}, bare append + fdatasync ${each(floor)} each; floor ${short(medianRatio(floor, native))}`,
    };
  });
}

export const append1: Benchmark = single(
  {
    name: 'append-1',
    group: 'store',
    what: 'durable append of 1 kB, one at a time, ours ÷ native',
    unit: 'ratio',
    bar: 1.6,
    direction: 'atMost',
    needsSqlite: true,
  },
  (context) => compare(context, 1),
);

export const append16: Benchmark = single(
  {
    name: 'append-16',
    group: 'store',
    what: 'durable append of 1 kB, 16 in flight, ours ÷ native one at a time',
    unit: 'ratio',
    bar: 0.5,
    direction: 'atMost',
    needsSqlite: true,
  },
  (context) => compare(context, 16),
);

/** Each round adds one chat of W1: as many messages as the mix needs to be exact. */
export const appendW1: Benchmark = single(
  {
    name: 'append-w1',
    group: 'store',
    what: 'W1 size mix, durable, one at a time, ours ÷ native storing the same inline',
    unit: 'ratio',
    bar: 2.5,
    direction: 'atMost',
    needsSqlite: true,
  },
  (context) =>
    withSides(context, async (sides) => {
      const { conversations } = sides;
      const make = (sessionId: string): Message[] => conversations.messages(sessionId, deckSize);
      const count = Math.max(5, Math.round((w1.chats / 2) * context.scale));
      const [ours = [], native = []] = await interleave(count, [
        async () => {
          const messages = await newChat(sides, make);
          return timed(() => appendOurs(sides.ours, messages, 1));
        },
        async () => {
          const messages = await newChat(sides, make);
          return timed(() => appendNative(sides.native, messages));
        },
      ]);
      const each = (values: readonly number[]): string => `${short(median(values) / deckSize)} ms`;
      return {
        value: medianRatio(ours, native),
        note: `ours ${each(ours)}, native ${each(native)} each; ${count} pairs of ${deckSize} messages`,
      };
    }),
);
