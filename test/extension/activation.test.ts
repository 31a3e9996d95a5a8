import assert from 'node:assert/strict';
import * as vscode from 'vscode';

describe('the installed extension', () => {
  const extension = vscode.extensions.getExtension('holdfast.holdfast-chat');

  it('is known to VS Code and activates', async () => {
    assert.ok(extension !== undefined, 'VS Code does not know holdfast.holdfast-chat');
    await extension.activate();
    assert.equal(extension.isActive, true);
  });

  it('registers every command that its manifest contributes', async () => {
    assert.ok(extension !== undefined);
    await extension.activate();
    const manifest = extension.packageJSON as { contributes: { commands: { command: string }[] } };
    const registered = await vscode.commands.getCommands(true);
    const missing = manifest.contributes.commands.filter(({ command }) => !registered.includes(command));
    assert.deepEqual(missing, []);
  });
});
