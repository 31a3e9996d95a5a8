/** Branches as the editor makes them: with ids and times of its own. */
import { ulid } from 'ulid';
import { branchChat, type BranchRequest } from '../core/runtime/branching.ts';
import type { Core } from './core.ts';

export function makeBranch(core: Core, request: BranchRequest): Promise<void> {
  const { store, registry } = core;
  return branchChat({ store, registry, newId: ulid, now: Date.now }, request);
}

/** **Branch from here**; `messageId` null: from the last message. Resolves to the id of the branch; rejects as branchChat does. */
export async function branchFrom(core: Core, sessionId: string, messageId: string | null): Promise<string> {
  const id = ulid();
  await makeBranch(core, { sessionId, messageId, cut: 'through', id, text: '' });
  return id;
}
