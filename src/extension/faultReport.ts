/** Tells the user once what a repair of the store could not save. */
import * as vscode from 'vscode';
import { dismissFault, listFaults, type Fault } from '../core/store/faults.ts';
import type { Store } from '../core/store/store.ts';

export async function reportFaults(store: Store): Promise<void> {
  for (const fault of store.read(listFaults)) {
    const understood = 'Understood';
    const answer = await vscode.window.showWarningMessage(describe(fault, store.folder), understood);
    if (answer === understood) await store.write((writer) => dismissFault(writer, fault.key));
  }
}

function describe({ missing, failed, applied, aside }: Fault, folder: string): string {
  const lost = missing.reduce((count, [first, last]) => count + last - first + 1, failed);
  return [
    `The chat storage in ${folder} was damaged and has been repaired: ${applied} changes were read`,
    `, ${lost} could not be.`,
    aside.length === 0 ? '' : ` The damaged files were kept in its folder "damaged" (${aside.join(', ')}).`,
  ].join('');
}
