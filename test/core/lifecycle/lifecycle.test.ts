/** Random lives of chats over several windows, compared with what the user may rely on. */
import fc from 'fast-check';
import { chatCount, finish, Stage, steps, windowCount, type Place } from './steps.ts';

const runs = Number(process.env['HOLDFAST_RUNS'] ?? 200);
/** The same sequences every time, unless another seed is asked for. */
const seed = Number(process.env['HOLDFAST_SEED'] ?? 1);

class Command implements fc.AsyncCommand<object, Stage> {
  readonly #name: string;
  readonly #place: Place;

  constructor(name: string, place: Place) {
    this.#name = name;
    this.#place = place;
  }

  check(): boolean {
    return true;
  }

  async run(_model: object, stage: Stage): Promise<void> {
    await steps[this.#name]?.(stage, this.#place);
    await stage.compare();
  }

  toString(): string {
    return `${this.#name} ${this.#place.window}/${this.#place.chat}`;
  }
}

/** Words and answers come more often than accidents, or there would be nothing to lose. */
const weights: Readonly<Record<string, number>> = { open: 3, send: 6, stream: 4, answer: 4, compact: 2 };

const place = fc.record({ window: fc.nat(windowCount - 1), chat: fc.nat(chatCount - 1) });
/** Half of what happens, happens to one chat in one window: random places would hardly ever meet. */
const nearPlace = fc.oneof(place, fc.constant({ window: 0, chat: 0 }));
const commands = Object.keys(steps).flatMap((name) =>
  Array.from({ length: weights[name] ?? 1 }, () => nearPlace.map((where) => new Command(name, where))),
);

describe('A chat', function () {
  this.timeout(runs * 2000);

  it(`that the user did not archive is listed, opens and shows every acknowledged message once, in order, whatever happens (${runs} lives)`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: 24, size: 'max' }), async (sequence) => {
        const stage = new Stage();
        try {
          await fc.asyncModelRun(() => ({ model: {}, real: stage }), sequence);
          await finish(stage);
        } finally {
          await stage.world.close();
        }
      }),
      { numRuns: runs, seed },
    );
  });
});
