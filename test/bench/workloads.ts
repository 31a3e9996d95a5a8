/**
 * The workloads of the project's figures, the same at every run: message sizes 200 B 40 %, 2 kB 40 %, 20 kB 18 %, 300 kB 2 %; a
 * tenth of the text CJK.
 */
import { ulid } from 'ulid';
import { makeMessage, makeSession, type Message, type Session } from '../../src/core/session/model.ts';

/** Random numbers from 0 up to 1 that are the same for the same seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Sizes in bytes, in the proportions of the workloads. */
const deck = [
  ...Array<number>(20).fill(200),
  ...Array<number>(20).fill(2000),
  ...Array<number>(9).fill(20_000),
  300_000,
];
export const deckSize = deck.length;

const poolBytes = 1 << 22;
/** One run of CJK text for this many of words, by their bytes. */
const cjkShare = 0.1;
const syllables = 'ra ten lo mi ka su ver in dor pel qua est o ni ti ber con al ex fu'.split(' ');

/** Text by the byte, cut from one long piece at whole characters. */
export class TextSource {
  readonly #random: () => number;
  readonly #pool: Buffer;

  constructor(random: () => number) {
    this.#random = random;
    this.#pool = makePool(random);
  }

  /** `bytes` of UTF-8, or up to three fewer. */
  text(bytes: number): string {
    const start = this.#boundary(Math.floor(this.#random() * (this.#pool.length - bytes)));
    return this.#pool.toString('utf8', start, this.#boundary(start + bytes));
  }

  /** The start of the character at this offset. */
  #boundary(offset: number): number {
    let at = offset;
    while (((this.#pool[at] ?? 0) & 0xc0) === 0x80) at -= 1;
    return at;
  }
}

function makePool(random: () => number): Buffer {
  const words = Array.from({ length: 4000 }, () =>
    Array.from(
      { length: 1 + Math.floor(random() * 4) },
      () => syllables[Math.floor(random() * syllables.length)],
    ).join(''),
  );
  const pieces: string[] = [];
  let latin = 0;
  let cjk = 0;
  while (latin + cjk < poolBytes) {
    if (cjk < (latin + cjk) * cjkShare) {
      const run = Array.from({ length: 12 }, () => String.fromCharCode(0x4e00 + Math.floor(random() * 3000)));
      pieces.push(`${run.join('')}。`);
      cjk += 39;
    } else {
      const word = words[Math.floor(random() * random() * words.length)] ?? '';
      const end = random() < 0.02 ? '.\n' : ' ';
      pieces.push(word + end);
      latin += word.length + end.length;
    }
  }
  return Buffer.from(pieces.join(''));
}

/** Chats with their messages, without end; `take` as many as the workload has. */
export class Conversations {
  readonly #random: () => number;
  readonly #texts: TextSource;
  #deck: number[] = [];
  #time = Date.UTC(2026, 0, 1);

  constructor(seed: number) {
    this.#random = seeded(seed);
    this.#texts = new TextSource(this.#random);
  }

  chat(): Session {
    this.#time += 60_000;
    return makeSession({
      id: this.#id(),
      source: 'panel',
      createdAt: this.#time,
      title: this.#texts.text(40),
    });
  }

  /** The next messages of the mix; a whole deck of them has exactly its proportions. */
  messages(sessionId: string, count: number): Message[] {
    return Array.from({ length: count }, (_, index) => this.message(sessionId, this.#size(), index));
  }

  message(sessionId: string, bytes: number, index = 0): Message {
    this.#time += 1000;
    return makeMessage({
      id: this.#id(),
      sessionId,
      seq: 0, // given by the store
      role: index % 2 === 0 ? 'user' : 'assistant',
      text: this.#texts.text(bytes),
      createdAt: this.#time,
      finishedAt: this.#time,
    });
  }

  /** Bytes of the next message. */
  #size(): number {
    if (this.#deck.length === 0) this.#deck = shuffled(deck, this.#random);
    return this.#deck.pop() ?? 0;
  }

  #id(): string {
    return ulid(this.#time, this.#random);
  }
}

function shuffled(values: readonly number[], random: () => number): number[] {
  return values
    .map((value) => ({ value, key: random() }))
    .sort((first, second) => first.key - second.key)
    .map(({ value }) => value);
}

/** Chats, and messages in each. */
export const w1 = { chats: 100, messages: 50 } as const;
export const w2 = { chats: 1000, messages: 100 } as const;
/** One chat; one of its messages has this many bytes. */
export const w5 = { messages: 5000, largeBytes: 50_000_000 } as const;
/** Small messages of this many bytes. */
export const w4 = { chats: 50_000, messages: 4, messageBytes: 2000 } as const;
