/** `holdfast archive` and `holdfast reopen`: the same acts as in the editor, on the whole chat. */
import { chatTitle } from '../core/session/title.ts';
import { archiveLineage, reopenLineage } from '../core/store/lineageChanges.ts';
import { requireSession } from '../core/store/sessions.ts';
import type { Store } from '../core/store/store.ts';
import { stateOf } from './chatState.ts';
import { plainLine, printJson, type Output } from './output.ts';

/** Resolves once it is on disk. Rejects with UnknownSessionError. */
export async function changeLifecycle(
  store: Store,
  verb: 'archive' | 'reopen',
  id: string,
  json: boolean,
  output: Output,
): Promise<void> {
  const session = await store.write((writer) => {
    requireSession(writer, id);
    if (verb === 'archive') archiveLineage(writer, id, Date.now());
    else reopenLineage(writer, id);
    return requireSession(writer, id);
  });
  if (json) printJson(output, { id, state: stateOf(session, new Set()) });
  else output.print(`${verb === 'archive' ? 'Archived' : 'Reopened'}: ${plainLine(chatTitle(session))}\n`);
}
