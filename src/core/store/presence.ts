/**
 * Which windows live. Each keeps a small file and touches it; what counts on the same host is only whether its process still
 * runs (so a laptop's sleep kills nobody), on another host whether the file changed within 60 s of our own clock.
 */
import * as v from 'valibot';
import { isNoSpace, noSpaceError, systemErrorCode } from './errors.ts';
import type { FileLayer } from './fileLayer.ts';
import { inFolder, windowsFolderName } from './folder.ts';
import type { ProcessProbe } from './processProbe.ts';

/** Milliseconds between touches of our own file. */
const heartbeat = 10_000;
/** A window of another host is dead when its file did not change for this long (milliseconds of our monotonic clock). */
const silence = 60_000;

const presenceSchema = v.object({
  pid: v.number(),
  /** When its process started, as the system counts; null: not known on this system. */
  start: v.nullable(v.string()),
  host: v.string(),
  /** It holds the whole state: others may ask it to save it. */
  holds: v.boolean(),
});
type PresenceFacts = v.InferOutput<typeof presenceSchema>;

export interface PresenceOptions {
  readonly files: FileLayer;
  readonly folder: string;
  readonly windowId: string;
  readonly clock: () => number;
  readonly probe: ProcessProbe;
  readonly log: (line: string) => void;
}

export class Presence {
  readonly #options: PresenceOptions;
  readonly #folder: string;
  /** Of windows on other hosts: the last change of their file, and when we saw it first. */
  readonly #seen = new Map<string, { modifiedAt: number; at: number }>();
  /** The process ids of the windows of this host that were looked at; a window has one process. */
  readonly #processes = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #holds = false;
  /** What our file says is not what it should say: the disk was full. The next beat writes it. */
  #isStale = false;

  constructor(options: PresenceOptions) {
    this.#options = options;
    this.#folder = inFolder(options.folder, windowsFolderName);
  }

  /**
   * Throws what node:fs throws if the file cannot be written; but on a full disk the window goes on without, since nobody
   * can write anything there, and follows with the file when there is room.
   */
  start(): void {
    this.#announce();
    this.#timer = setInterval(() => this.#beat(), heartbeat).unref();
  }

  /** The window is closed on purpose: from now on it counts as dead. */
  stop(): void {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    this.#options.files.remove(this.#path(this.#options.windowId));
  }

  /** Whether the window may still write. One whose file cannot be understood counts as alive: nobody is robbed on a guess. */
  isAlive(windowId: string): boolean {
    if (windowId === this.#options.windowId) return true;
    const facts = this.#read(windowId);
    if (facts === 'gone') return false;
    if (facts === 'unclear') return true;
    const { probe } = this.#options;
    if (facts.host !== probe.host) return this.#isHeard(windowId);
    this.#processes.set(windowId, facts.pid);
    return probe.isRunning(facts.pid, facts.start);
  }

  /**
   * The same at a glance: false only if the process that a window of this host was found in is gone. Whether it is still that
   * process, and what became of windows of other hosts, `isAlive` tells.
   */
  seemsAlive(windowId: string): boolean {
    const pid = this.#processes.get(windowId);
    return pid === undefined || this.#options.probe.isInUse(pid);
  }

  /** Whether this window holds the whole state, or is only opening or in repair. */
  setHolds(holds: boolean): void {
    if (this.#timer === null || this.#holds === holds) return;
    this.#holds = holds;
    this.#announce();
  }

  /** Windows other than this one that live and hold the state. */
  others(): string[] {
    return this.#ids().filter(
      (id) => id !== this.#options.windowId && this.isAlive(id) && this.#isHolder(id),
    );
  }

  /** Removes the files of dead windows of this host. */
  sweep(): void {
    for (const id of this.#ids()) {
      if (id !== this.#options.windowId && !this.isAlive(id)) this.#options.files.remove(this.#path(id));
    }
  }

  #ids(): string[] {
    try {
      const names = this.#options.files.list(this.#folder);
      return names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length));
    } catch (error) {
      if (systemErrorCode(error) === 'ENOENT') return [];
      throw error;
    }
  }

  #read(windowId: string): PresenceFacts | 'gone' | 'unclear' {
    let text: string;
    try {
      text = Buffer.from(this.#options.files.readFile(this.#path(windowId))).toString();
    } catch (error) {
      return systemErrorCode(error) === 'ENOENT' ? 'gone' : 'unclear';
    }
    try {
      return v.parse(presenceSchema, JSON.parse(text));
    } catch (error) {
      this.#options.log(`the presence file of window ${windowId} is unreadable: ${String(error)}`);
      return 'unclear';
    }
  }

  #isHolder(windowId: string): boolean {
    const facts = this.#read(windowId);
    return facts === 'unclear' || (facts !== 'gone' && facts.holds);
  }

  #isHeard(windowId: string): boolean {
    const modifiedAt = this.#options.files.statusOf(this.#path(windowId))?.modifiedAt;
    if (modifiedAt === undefined) return false;
    const now = this.#options.clock();
    const seen = this.#seen.get(windowId);
    if (seen === undefined || seen.modifiedAt !== modifiedAt) {
      this.#seen.set(windowId, { modifiedAt, at: now });
      return true;
    }
    return now - seen.at < silence;
  }

  #beat(): void {
    const { files, windowId, log } = this.#options;
    try {
      if (!this.#isStale) {
        files.touch(this.#path(windowId));
        return;
      }
    } catch (error) {
      log(`the presence file is written again: ${String(error)}`);
    }
    try {
      this.#write();
    } catch (failure) {
      log(`the presence file cannot be written: ${String(failure)}`);
    }
  }

  #announce(): void {
    try {
      this.#write();
    } catch (error) {
      if (!isNoSpace(error)) throw error;
      this.#options.log(`the presence file cannot be written yet: ${String(error)}`);
    }
  }

  #write(): void {
    const { files, windowId, probe } = this.#options;
    const facts: PresenceFacts = { pid: probe.pid, start: probe.start, host: probe.host, holds: this.#holds };
    const bytes = Buffer.from(JSON.stringify(facts));
    this.#isStale = true;
    files.makeFolder(this.#folder);
    const path = this.#path(windowId);
    const temporary = `${path}.tmp`;
    files.remove(temporary);
    const descriptor = files.open(temporary, 'createNew');
    try {
      if (files.append(descriptor, bytes) < bytes.length) throw noSpaceError('a short write');
    } catch (error) {
      files.remove(temporary);
      throw error;
    } finally {
      files.close(descriptor);
    }
    files.rename(temporary, path);
    this.#isStale = false;
  }

  #path(windowId: string): string {
    return inFolder(this.#folder, `${windowId}.json`);
  }
}
