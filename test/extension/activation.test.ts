import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { performance } from 'node:perf_hooks';
import * as v from 'valibot';
import * as vscode from 'vscode';
import { chatListView, commands, section, settings } from '../../src/extension/contributions.ts';

const manifestSchema = v.object({
  contributes: v.object({
    commands: v.array(v.object({ command: v.string(), title: v.string() })),
    views: v.record(v.string(), v.array(v.object({ id: v.string() }))),
    configuration: v.object({ properties: v.record(v.string(), v.unknown()) }),
  }),
});

/** Milliseconds that `activate()` may take. */
const activationBar = 50;

describe('The extension in its host', () => {
  const extension = vscode.extensions.getExtension('holdfast.holdfast-chat');
  if (extension === undefined) throw new Error('VS Code does not know holdfast.holdfast-chat');
  const { contributes } = v.parse(manifestSchema, extension.packageJSON);

  it(`activates within ${activationBar} ms`, async () => {
    await extension.activate();
    const [measure] = performance.getEntriesByName('holdfast.activate');
    assert.ok(measure !== undefined, 'activate() was not measured');
    console.log(`activate() took ${measure.duration.toFixed(1)} ms`);
    assert.ok(measure.duration <= activationBar, `activate() took ${measure.duration} ms`);
  });

  it('opens no chat storage on its way, however large that is: seconds later, or at first need (B56)', async () => {
    await extension.activate();
    const [measure] = performance.getEntriesByName('holdfast.activate');
    assert.ok(measure !== undefined);
    const activatedAt = performance.timeOrigin + measure.startTime + measure.duration;
    const folder = vscode.workspace.getConfiguration(section).get('storageFolder');
    assert.ok(typeof folder === 'string');
    // Opening it for the first time makes the folder and its journal.
    const journal = path.join(folder, 'journal-1.log');
    while (!fs.existsSync(journal)) await new Promise((resolve) => setTimeout(resolve, 50));
    const openedAfter = fs.statSync(journal).birthtimeMs - activatedAt;
    console.log(`the chat storage was opened ${Math.round(openedAfter)} ms after activate()`);
    assert.ok(openedAfter > 1000, `opened ${openedAfter} ms after activate()`);
  });

  it('has one table of names that agrees with its manifest', () => {
    assert.deepEqual(
      contributes.commands.map(({ command }) => command).sort(),
      Object.values(commands).sort(),
    );
    assert.deepEqual(
      Object.keys(contributes.configuration.properties).sort(),
      Object.values(settings)
        .map((key) => `${section}.${key}`)
        .sort(),
    );
    assert.deepEqual(Object.values(contributes.views).flat(), [{ id: chatListView }]);
  });

  it('registers every command that its manifest contributes', async () => {
    await extension.activate();
    const registered = await vscode.commands.getCommands(true);
    assert.deepEqual(
      contributes.commands.map(({ command }) => command).filter((command) => !registered.includes(command)),
      [],
    );
  });
});

describe('New Chat', () => {
  it('opens a panel as an editor tab, and closing the tab is all it takes to get rid of it', async () => {
    await vscode.commands.executeCommand(commands.newChat);
    const tab = await eventually(() => ourTabs()[0]);
    assert.equal(tab.label, 'New Chat');
    await vscode.window.tabGroups.close(tab);
    await eventually(() => ourTabs().length === 0 || undefined);
  });
});

function ourTabs(): vscode.Tab[] {
  return vscode.window.tabGroups.all
    .flatMap((group) => group.tabs)
    .filter(
      (tab) => tab.input instanceof vscode.TabInputWebview && tab.input.viewType.endsWith('holdfast.chat'),
    );
}

/** Waits for the next change of the tabs until the condition gives something. */
async function eventually<Value>(condition: () => Value | undefined): Promise<Value> {
  for (;;) {
    const value = condition();
    if (value !== undefined) return value;
    await new Promise<void>((resolve) => {
      const subscription = vscode.window.tabGroups.onDidChangeTabs(() => {
        subscription.dispose();
        resolve();
      });
    });
  }
}
