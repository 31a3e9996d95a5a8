/** Another extension relies on the lifecycle through the exported API. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import * as v from 'valibot';
import { chatPanel } from '../support/vscode/chatPanel.ts';
import { installVsix, packageFolder } from '../support/vscode/install.ts';
import { projectRoot } from '../support/vscode/paths.ts';
import { until } from '../support/vscode/until.ts';
import type { VscodeWindow } from '../support/vscode/window.ts';
import { Editor, openNewChat } from './editor.ts';

const entrySchema = v.object({ what: v.string(), value: v.unknown() });
const sessionSchema = v.object({ id: v.string(), source: v.string(), endReason: v.nullable(v.string()) });

describe('Another extension', () => {
  let editor: Editor;
  let window: VscodeWindow;
  before(async () => {
    editor = await Editor.start({ install: installApiUser });
    // The model is there: a command right after the window is there may be faster than the editor's settings.
    ({ window } = await openNewChat(editor, { 'holdfast.lifecycle.graceSeconds': 1 }));
    await window.runCommand('View: Close All Editors');
  });
  after(() => editor.stop());

  const told = (what: string): unknown[] => {
    const file = join(editor.folder, 'report.jsonl');
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return lines
      .map((line) => v.parse(entrySchema, JSON.parse(line)))
      .filter((entry) => entry.what === what)
      .map(({ value }) => value);
  };
  const next = async (
    what: string,
    count: number,
    isMeant: (value: unknown) => boolean = () => true,
  ): Promise<unknown> => {
    const meant = () => told(what).filter(isMeant);
    await until(() => meant().length >= count, { what: `${what} number ${count}`, timeout: 30_000 });
    return meant()[count - 1];
  };
  /** What was told of that chat, and not of the one whose panel was closed before. */
  const nextOf = (sessionId: string, what: string, count: number): Promise<unknown> =>
    next(what, count, (value) => v.is(v.object({ sessionId: v.literal(sessionId) }), value));

  it('makes a chat, reads it, and is told of its life, though other listeners throw, reject and hang', async () => {
    await window.runCommand('API User: Ask');
    const request = await editor.models.waitForRequest();
    await request.send('Hello, extension.');
    await request.finish();
    const made = v.parse(sessionSchema, await next('made', 1));
    assert.deepEqual([made.source, made.endReason], ['api', null]);
    assert.deepEqual(await next('answered', 1), {
      version: 1,
      answer: { role: 'assistant', status: 'complete', text: 'Hello, extension.' },
      messages: [
        ['user', 'complete', 'Hello from an extension'],
        ['assistant', 'complete', 'Hello, extension.'],
      ],
      hasOlder: false,
      listed: [[true, 'Made by an extension', 2]],
    });
    const sessionId = made.id;
    const ended = { completed: false, interrupted: true, model: 'test/test-model' };
    assert.deepEqual(await nextOf(sessionId, 'onSessionEnd', 1), { sessionId, source: 'api', ...ended });
    assert.deepEqual(await nextOf(sessionId, 'onSessionFinalize', 1), { sessionId, source: 'api' });
    assert.deepEqual(await nextOf(sessionId, 'onReclaimed', 1), { sessionId, reason: 'orphan_reap' });
    await window.runCommand('API User: Look');
    const looked = v.parse(sessionSchema, await next('looked', 1));
    assert.equal(looked.endReason, 'orphan_reap', 'no panel ever showed it');
    assert.ok(v.parse(v.number(), await next('changes', 1)) > 0);
  });

  it('shows its chat in a panel, and from then on cleanup ends it no more', async () => {
    await window.runCommand('API User: Show');
    const panel = chatPanel(window);
    await panel.ready();
    await panel.answerContains('Hello, extension.');
    await panel.send('And a person asks');
    const request = await editor.models.waitForRequest();
    await request.send('A person is answered.');
    await request.finish();
    await panel.status('Assistant', ['complete']);
    await panel.answerContains('A person is answered.');
    await window.closeEditorTab('Made by an extension');
    const sessionId = v.parse(sessionSchema, told('made')[0]).id;
    assert.deepEqual(await nextOf(sessionId, 'onReclaimed', 2), { sessionId, reason: 'panel_closed' });
    await window.runCommand('API User: Look');
    assert.equal(v.parse(sessionSchema, await next('looked', 2)).endReason, null);
  });

  it('finds the types of the API in the installed extension', () => {
    const { extensionsDirectory } = editor.server;
    const installed = readdirSync(extensionsDirectory).find((name) => name.startsWith('holdfast.'));
    assert.ok(installed !== undefined);
    const types = readFileSync(join(extensionsDirectory, installed, 'dist', 'api.d.ts'), 'utf8');
    assert.equal(types, readFileSync(join(projectRoot, 'src', 'extension', 'api.ts'), 'utf8'));
  });

  it('is told in a sentence what it did wrong', async () => {
    await window.runCommand('API User: Misuse');
    assert.deepEqual(await next('misused', 1), [
      [
        'create of the Holdfast API was called with a wrong argument. source: must be "api".',
        'There is no chat with the id nobody.',
        'There is no chat with the id nobody.',
      ],
      true,
    ]);
  });
});

/** Builds, packages and installs the extension of ./apiUser. */
async function installApiUser(extensionsDirectory: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-api-user-'));
  try {
    const sources = join(import.meta.dirname, 'apiUser');
    cpSync(join(sources, 'package.json'), join(folder, 'package.json'));
    await build({
      entryPoints: [join(sources, 'extension.ts')],
      outfile: join(folder, 'extension.cjs'),
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      external: ['vscode'],
      logLevel: 'warning',
    });
    const vsix = join(folder, 'api-user.vsix');
    await packageFolder(folder, vsix);
    await installVsix(vsix, extensionsDirectory);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
