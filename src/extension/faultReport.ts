/** Tells the user once what a repair of the store could not save, and what became of words that could not be saved. */
import * as vscode from 'vscode';
import { describeRescued, type RescuedFile } from '../core/runtime/rescue.ts';
import { describeFault, dismissFault, listFaults } from '../core/store/faults.ts';
import type { Store } from '../core/store/store.ts';

export async function reportFaults(store: Store): Promise<void> {
  for (const fault of store.read(listFaults)) {
    const understood = 'Understood';
    const answer = await vscode.window.showWarningMessage(describeFault(fault, store.folder), understood);
    if (answer === understood) await store.write((writer) => dismissFault(writer, fault.key));
  }
}

/** Something outside took the files away, and it may do so again: the user should know at once. */
export function reportHealed(what: string): void {
  void vscode.window.showWarningMessage(what);
}

/** A window that goes can show nothing, so the next one does. */
export async function reportRescued(rescued: readonly RescuedFile[]): Promise<void> {
  for (const { isWaiting, text } of describeRescued(rescued)) {
    void (isWaiting ? vscode.window.showWarningMessage(text) : vscode.window.showInformationMessage(text));
  }
}
