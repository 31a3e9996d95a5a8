/**
 * Server-sent events as servers really send them: any line end, also cut between CR and LF; no space behind `data:`;
 * comments; characters cut between chunks; a raw line break inside the JSON of a frame.
 */
export interface ServerEvent {
  /** Empty when the server named none. */
  readonly event: string;
  readonly data: string;
}

export class EventStreamParser {
  private readonly decoder = new TextDecoder('utf-8');
  private rest = '';
  /** The last chunk ended with CR: a LF that comes next belongs to it. */
  private endedWithReturn = false;
  private event = '';
  private data: string[] = [];

  push(bytes: Uint8Array): ServerEvent[] {
    return this.take(this.decoder.decode(bytes, { stream: true }));
  }

  /** What is left when the connection ends, also without the empty line that should close it. */
  end(): ServerEvent[] {
    const found = this.take(this.decoder.decode());
    if (this.rest !== '') this.takeLine(this.rest);
    this.rest = '';
    return [...found, ...this.dispatch()];
  }

  private take(decoded: string): ServerEvent[] {
    if (decoded === '') return [];
    const text = this.endedWithReturn && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
    this.endedWithReturn = text === '' ? false : text.endsWith('\r');
    const lines = (this.rest + text).split(/\r\n|\n|\r/);
    this.rest = lines.pop() ?? '';
    return lines.flatMap((line) => {
      if (line === '') return this.dispatch();
      this.takeLine(line);
      return [];
    });
  }

  private takeLine(line: string): void {
    if (line.startsWith(':')) return;
    const [, field, value] = /^(data|event|id|retry) ?: ?(.*)$/s.exec(line) ?? [];
    if (field === 'data' && value !== undefined) this.data.push(value);
    else if (field === 'event' && value !== undefined) this.event = value.trim();
    else if (field === undefined && this.isPartOfData(line)) this.data.push(line);
  }

  /**
   * A line without a field that means anything. It goes on with a frame whose JSON is not whole yet, or begins a plain
   * body that is no stream of events at all (an error page, an answer that was not streamed).
   */
  private isPartOfData(line: string): boolean {
    if (this.data.length === 0) return !/^[\w-]+:/.test(line);
    return !isJson(this.data.join(''));
  }

  private dispatch(): ServerEvent[] {
    const { event, data } = this;
    this.event = '';
    this.data = [];
    return data.length === 0 && event === '' ? [] : [{ event, data: data.join('\n') }];
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
