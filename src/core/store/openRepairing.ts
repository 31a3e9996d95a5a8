/**
 * Opening a store that may be damaged. Damage is never opened over: a window that holds the state in memory is asked to save
 * it in a new generation; if there is none, what can be read is salvaged.
 */
import { isNoSpace, StoreDamagedError, StoreError, systemErrorCode } from './errors.ts';
import type { FileLayer } from './fileLayer.ts';
import { inFolder, journalName, listFolder, repairLockName } from './folder.ts';
import { Journal } from './journal.ts';
import { openReplica, type OpenedReplica, type OpenOptions } from './openReplica.ts';
import type { Presence } from './presence.ts';
import { requests, type Request } from './replica.ts';
import { salvage } from './salvage.ts';

export interface RepairOptions extends OpenOptions {
  readonly windowId: string;
  readonly presence: Presence;
  readonly now: () => number;
  readonly log: (line: string) => void;
  readonly makeId: () => string;
  /** How long another window may take to answer, in milliseconds. */
  readonly patience: number;
}

/** Milliseconds between looks while waiting for another window. */
const pause = 50;
const mostRounds = 5;

/** Throws StoreDamagedError if a window holds the state but does not answer, and what openReplica throws. */
export async function openRepairing(options: RepairOptions): Promise<OpenedReplica> {
  let deadline: number | null = null;
  for (let round = 1; ;) {
    try {
      const opened = openReplica(options);
      // Nobody who knows better, or no answer: the unreadable end is taken for a torn write.
      if (!isDoubtful(options, opened) || (deadline !== null && options.clock() >= deadline)) {
        opened.replica.acceptTail();
        return opened;
      }
      opened.replica.close();
      if (deadline === null) {
        deadline = options.clock() + (askToConfirm(options) ? options.patience : 0);
      }
      await waitForChange(options, deadline);
    } catch (error) {
      if (!(error instanceof StoreDamagedError) || options.access === 'read' || round === mostRounds)
        throw error;
      options.log(error.message);
      round += 1;
      await repair(options, error);
    }
  }
}

function isDoubtful({ access, presence }: RepairOptions, { replica }: OpenedReplica): boolean {
  const isTorn = replica.isSuspect || replica.hasUnfinishedTail();
  return access === 'append' && isTorn && presence.others().length > 0;
}

/** Until somebody wrote to the newest journal; that may also be another window's question. */
async function waitForChange(options: RepairOptions, deadline: number): Promise<void> {
  const before = signature(options);
  while (
    signature(options) === before &&
    options.clock() < deadline &&
    options.presence.others().length > 0
  ) {
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

async function repair(options: RepairOptions, damage: StoreDamagedError): Promise<void> {
  const others = options.presence.others();
  if (others.length > 0) {
    await askOthers(options, damage);
    return;
  }
  await withRepairLock(options, () => {
    if (isSound(options)) return;
    const report = salvage(options);
    options.log(`salvaged what could be read: ${JSON.stringify(report)}`);
  });
}

/** Whether the files open by themselves. */
function isSound(options: OpenOptions): boolean {
  try {
    openReplica({ ...options, access: 'read', onMove: (left) => left.close() }).replica.close();
    return true;
  } catch (error) {
    if (error instanceof StoreDamagedError) return false;
    throw error;
  }
}

async function askOthers(options: RepairOptions, damage: StoreDamagedError): Promise<void> {
  const before = newestSnapshot(options);
  sendRequest(options, 'repair');
  const deadline = options.clock() + options.patience;
  while (newestSnapshot(options) === before) {
    const others = options.presence.others();
    if (others.length === 0) return; // they died: the next round salvages
    if (options.clock() > deadline) {
      throw new StoreError(
        'damaged',
        `${damage.message} Another window (${others.join(', ')}) still holds the chats but does not answer. Reload that window, or close it and open this one again.`,
        damage,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

function newestSnapshot({ files, folder }: OpenOptions): string {
  return listFolder(files, folder).snapshots[0]?.name ?? '';
}

function signature(options: OpenOptions): string {
  const { files, folder } = options;
  const journal = inFolder(folder, journalName(listFolder(files, folder).journals.at(-1) ?? 0));
  return `${newestSnapshot(options)} ${journal} ${files.statusOf(journal)?.size ?? 0}`;
}

/** False: the disk is full, so the question cannot be put and there will be no answer. */
function askToConfirm(options: RepairOptions): boolean {
  try {
    sendRequest(options, 'confirm');
    return true;
  } catch (error) {
    if (!isNoSpace(error)) throw error;
    options.log(`no window can be asked: ${String(error)}`);
    return false;
  }
}

function sendRequest({ files, folder }: OpenOptions, request: Request): void {
  const generation = listFolder(files, folder).journals.at(-1);
  if (generation === undefined) return;
  const journal = new Journal(files, folder, generation, 'append');
  try {
    journal.append(Buffer.from(`\n${requests[request]}\n`));
  } finally {
    journal.close();
  }
}

/** One window at a time salvages; the lock of a dead one is taken over. */
async function withRepairLock(options: RepairOptions, use: () => void): Promise<void> {
  const { files, folder, presence, windowId } = options;
  const path = inFolder(folder, repairLockName);
  while (!tryLock(files, path, windowId)) {
    const owner = readOwner(files, path);
    if (owner !== null && owner !== windowId && presence.isAlive(owner)) {
      await new Promise((resolve) => setTimeout(resolve, pause));
    } else if (owner !== null) files.remove(path);
  }
  try {
    use();
  } finally {
    files.remove(path);
  }
}

function tryLock(files: FileLayer, path: string, windowId: string): boolean {
  try {
    const descriptor = files.open(path, 'createNew');
    files.append(descriptor, Buffer.from(windowId));
    files.close(descriptor);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Null: the lock is gone. */
function readOwner(files: FileLayer, path: string): string | null {
  try {
    return Buffer.from(files.readFile(path)).toString();
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}
