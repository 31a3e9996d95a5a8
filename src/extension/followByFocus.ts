import * as vscode from 'vscode';
import type { Store } from '../core/store/store.ts';
import { focusedFollowInterval, unfocusedFollowInterval } from '../core/store/storeOptions.ts';

/** A window that nobody looks at follows the others at leisure. */
export function followByFocus(store: Store): vscode.Disposable {
  const follow = ({ focused }: vscode.WindowState): void =>
    store.follow(focused ? focusedFollowInterval : unfocusedFollowInterval);
  follow(vscode.window.state);
  return vscode.window.onDidChangeWindowState(follow);
}
