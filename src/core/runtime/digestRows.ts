/** The digest of a chat's rows, made while others run: reading a long chat takes long, and its large contents are in files. */
import { Digest } from '../agent/digest.ts';
import type { Message } from '../session/model.ts';
import { withContents } from '../store/messages.ts';
import type { Store } from '../store/store.ts';
import { breathe } from '../tools/breathe.ts';

/** `rows`: oldest first, with their contents or without. Rejects with StoreErrors. */
export async function digestRows(store: Pick<Store, 'read'>, rows: readonly Message[]): Promise<string> {
  const digest = new Digest();
  let breathing = performance.now();
  for (const row of rows) {
    digest.add(store.read((reader) => withContents(reader, row)));
    breathing = await breathe(breathing);
  }
  return digest.text;
}
