/**
 * Stands between the network and the SDK, which takes a broken frame for the end of an answer. It reads as fast as the
 * network delivers, passes on only frames the SDK understands, notices faults, silence and early ends, and then closes
 * the SDK's stream in good order: erroring it would throw away the text that is still on its way through.
 */
import { ModelError } from './chatModel.ts';
import { EventStreamParser, type ServerEvent } from './eventStream.ts';
import { damagedError, notAStreamError, stalledError, truncatedError } from './networkErrors.ts';
import { faultError, readFault, type Endpoint } from './providerErrors.ts';
import { finishFrame, toStreamFrame, type StreamFrame } from './streamFrame.ts';

/** How long pings alone keep a request alive, as a multiple of the idle limit. */
const pingFactor = 5;
/** Milliseconds to wait for usage, `[DONE]` or the end once the model has finished. */
const afterFinishMs = 3_000;

export interface RepairedStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Why the answer is not whole; null while it runs and after a good end. */
  failure(): ModelError | null;
}

export function repairStream(
  source: ReadableStream<Uint8Array>,
  endpoint: Endpoint,
  idleTimeoutMs: number,
): RepairedStream {
  const pump = new Pump(source, endpoint, idleTimeoutMs);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const encoder = new TextEncoder();
      void pump
        .run((frame) => controller.enqueue(encoder.encode(`data: ${frame.json}\n\n`)))
        .then(() => controller.close())
        .catch((error: unknown) => controller.error(error));
    },
    cancel: () => pump.cancel(),
  });
  return { body, failure: () => pump.failure };
}

class Pump {
  failure: ModelError | null = null;
  private readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  private readonly endpoint: Endpoint;
  private readonly idleTimeoutMs: number;
  private readonly parser = new EventStreamParser();
  /** Data of a frame that does not parse; its end may come with the next one. */
  private broken = '';
  private isDamaged = false;
  private isFinished = false;
  private isDone = false;
  private lastContentAt = performance.now();

  constructor(source: ReadableStream<Uint8Array>, endpoint: Endpoint, idleTimeoutMs: number) {
    this.reader = source.getReader();
    this.endpoint = endpoint;
    this.idleTimeoutMs = idleTimeoutMs;
  }

  /** Never rejects for what the network does; `failure` says what went wrong. */
  async run(pass: (frame: StreamFrame) => void): Promise<void> {
    try {
      for (;;) {
        const bytes = await this.read();
        const events = bytes === null ? this.parser.end() : this.parser.push(bytes);
        for (const event of events) for (const frame of this.take(event)) pass(frame);
        if (bytes === null || this.isDone) break;
      }
      if (this.isDone && !this.isFinished) pass(finishFrame);
      else if (!this.isFinished) throw truncatedError(this.endpoint);
      if (this.isDamaged || this.broken !== '') throw damagedError(this.endpoint);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      this.failure = error;
    } finally {
      this.cancel();
    }
  }

  cancel(): void {
    void this.reader.cancel().catch((error: unknown) => error); // already closed or broken: nothing to release
  }

  /** The next bytes; null at the end, whether orderly or not. Raises `stalled`. */
  private async read(): Promise<Uint8Array | null> {
    const sinceContent = performance.now() - this.lastContentAt;
    const limit = this.isFinished
      ? Math.min(afterFinishMs, this.idleTimeoutMs)
      : Math.max(0, Math.min(this.idleTimeoutMs, this.idleTimeoutMs * pingFactor - sinceContent));
    let timer: NodeJS.Timeout | undefined;
    const silence = new Promise<'silence'>((resolve) => {
      timer = setTimeout(() => resolve('silence'), limit);
    });
    try {
      const result = await Promise.race([this.reader.read(), silence]);
      if (result !== 'silence') return result.done ? null : result.value;
    } catch {
      return null; // the connection broke; `run` judges what came before
    } finally {
      clearTimeout(timer);
    }
    if (this.isFinished) return null;
    throw stalledError(this.endpoint, Math.max(limit, performance.now() - this.lastContentAt));
  }

  private take({ event, data }: ServerEvent): StreamFrame[] {
    const trimmed = data.trim();
    if (trimmed === '') return []; // a ping
    if (trimmed === '[DONE]') {
      this.isDone = true;
      return [];
    }
    if (trimmed.startsWith('<') && this.broken === '') throw notAStreamError(this.endpoint);
    const value = this.parse(trimmed);
    if (value === undefined) {
      if (event === 'error') throw faultError(this.endpoint, 200, { message: trimmed, code: '', type: '' });
      return [];
    }
    const fault = readFault(value);
    if (fault !== null) throw faultError(this.endpoint, 200, fault);
    const frame = toStreamFrame(value);
    if (frame === null) return [];
    if (frame.hasContent || frame.isFinish) this.lastContentAt = performance.now();
    this.isFinished ||= frame.isFinish;
    return [frame];
  }

  /** The JSON value, joined with what was cut off before it if that makes it whole; undefined when there is none. */
  private parse(data: string): unknown {
    // JSON never holds a raw line break inside a string: one that is there was put in on the way.
    const alone = parseJson(data) ?? parseJson(data.replaceAll('\n', ''));
    if (this.broken !== '') {
      // A frame of its own proves that the broken one will not go on.
      const joined = alone === undefined ? parseJson(this.broken + data) : undefined;
      if (joined !== undefined || alone !== undefined) {
        this.isDamaged ||= joined === undefined;
        this.broken = '';
        return joined ?? alone;
      }
      this.broken += data;
      return undefined;
    }
    // Words that are no JSON at all (`: comment`, `ping`) were no part of the answer.
    if (alone === undefined && data.startsWith('{')) this.broken = data;
    return alone;
  }
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined; // the caller decides what that means
  }
}
