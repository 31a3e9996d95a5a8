/** A second extension, which uses the API of Holdfast and writes what it learns into a file of the workspace. Some of its listeners misbehave. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { HoldfastApi } from '../../../src/extension/api.ts';

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const holdfast = vscode.extensions.getExtension<HoldfastApi>('holdfast.holdfast-chat');
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (holdfast === undefined || folder === undefined) throw new Error('Holdfast and a folder are needed');
  const api = await holdfast.activate();
  const report = (what: string, value: unknown): void =>
    appendFileSync(join(folder, 'report.jsonl'), `${JSON.stringify({ what, value })}\n`);

  for (const event of [api.onSessionEnd, api.onSessionFinalize, api.onReclaimed, api.onSessionsChanged]) {
    event(() => {
      throw new Error('a listener that throws');
    });
    event(() => new Promise(() => undefined));
    event(() => Promise.reject(new Error('a listener that rejects')));
  }
  api.onSessionEnd((payload) => report('onSessionEnd', payload));
  api.onSessionFinalize((payload) => report('onSessionFinalize', payload));
  api.onReclaimed(({ sessionId, reason }) => report('onReclaimed', { sessionId, reason }));
  let changes = 0;
  api.onSessionsChanged(() => (changes += 1));

  let sessionId = '';
  const commands: Readonly<Record<string, () => Promise<void>>> = {
    ask: async () => {
      const chat = await api.create({ source: 'api', title: 'Made by an extension' });
      sessionId = chat.sessionId;
      report('made', await api.getSession(sessionId));
      const { role, status, text } = await chat.send('Hello from an extension');
      const { messages, hasOlder } = await api.getMessages(sessionId);
      const listed = await api.listSessions({ archived: false });
      report('answered', {
        version: api.version,
        answer: { role, status, text },
        messages: messages.map((message) => [message.role, message.status, message.text]),
        hasOlder,
        listed: listed.map(({ id, title, messageCount }) => [id === sessionId, title, messageCount]),
      });
      report('changes', changes);
    },
    show: async () => (await api.resume(sessionId)).show(),
    look: async () => report('looked', await api.getSession(sessionId)),
    misuse: async () => {
      const errors: string[] = [];
      const keep = (error: unknown): void => void errors.push(error instanceof Error ? error.message : '');
      const options: unknown = { source: 'panel' };
      // As a caller in JavaScript would.
      const made: unknown = Reflect.apply(api.create.bind(api), api, [options]);
      await Promise.resolve(made).catch(keep);
      await api.getMessages('nobody').catch(keep);
      await api.resume('nobody').catch(keep);
      report('misused', [errors, (await api.getSession('nobody')) === undefined]);
    },
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(`apiUser.${name}`, run));
  }
}
