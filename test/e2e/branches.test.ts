/** A conversation that goes several ways: each is a chat of its own, and one leads to the other. */
import assert from 'node:assert/strict';
import type { ChatPanel } from '../support/vscode/chatPanel.ts';
import { chatPanel } from '../support/vscode/chatPanel.ts';
import { until } from '../support/vscode/until.ts';
import { type Editor, openNewChat } from './editor.ts';
import { sharedEditor } from './sharedEditor.ts';

describe('A conversation branches', () => {
  let editor: Editor;
  beforeEach(async () => {
    editor = await sharedEditor();
  });

  it('from a message into a tab of its own, and by an edited prompt in its place; each way leads back', async () => {
    const { window, panel } = await openNewChat(editor);
    await ask(panel, 'First question', 'First answer.');
    await ask(panel, 'Secnod question', 'An answer to a typo.');

    const firstAnswer = panel.messages('Assistant').filter({ hasText: 'First answer.' });
    await firstAnswer.hover();
    await firstAnswer.getByRole('button', { name: 'Branch from here' }).click();
    await window.editorTabs('First question (branch)').waitFor();
    const branch = chatPanel(window);
    await shows(branch, ['First question', 'First answer.']);
    await ask(branch, 'Another way', 'It goes on.');

    await branch.frame.getByRole('button', { name: 'Previous branch' }).click();
    await shows(branch, ['First question', 'First answer.', 'Secnod question', 'An answer to a typo.']);
    const typo = branch.messages('You').filter({ hasText: 'Secnod question' });
    await typo.hover();
    await typo.getByRole('button', { name: 'Edit' }).click();
    const box = branch.frame.getByRole('textbox', { name: 'Edit message' });
    await box.fill('Second question');
    await box.press('Enter');
    const request = await editor.models.waitForRequest();
    const told = request.body.messages.filter(({ role }) => role !== 'system');
    assert.deepEqual(
      told.map(({ role, content }) => [role, content]),
      [
        ['user', 'First question'],
        ['assistant', 'First answer.'],
        ['user', 'Second question'],
      ],
    );
    await request.send('An answer without a typo.');
    await request.finish();
    await shows(branch, ['First question', 'First answer.', 'Second question', 'An answer without a typo.']);
    const ways = branch.frame.getByRole('group', { name: 'Branches' });
    assert.match((await ways.textContent()) ?? '', /Branch 3 of 3/);

    await window.reload();
    const restored = chatPanel(window);
    await shows(restored, [
      'First question',
      'First answer.',
      'Second question',
      'An answer without a typo.',
    ]);
    await restored.frame.getByRole('button', { name: 'Previous branch' }).click();
    await shows(restored, ['First question', 'First answer.', 'Another way', 'It goes on.']);
    await restored.frame.getByRole('button', { name: 'Previous branch' }).click();
    await shows(restored, ['First question', 'First answer.', 'Secnod question', 'An answer to a typo.']);
  });

  async function ask(panel: ChatPanel, question: string, answer: string): Promise<void> {
    await panel.send(question);
    const request = await editor.models.waitForRequest();
    await request.send(answer);
    await request.finish();
    await panel.answerContains(answer);
    await panel.status('Assistant', ['complete']);
  }
});

/** Waits until the panel shows these messages and no others. */
async function shows(panel: ChatPanel, wanted: readonly string[]): Promise<void> {
  await until(
    async () => {
      const texts = (await panel.shownMessages()).map(({ text }) => text);
      return texts.length === wanted.length && wanted.every((text, index) => texts[index]?.includes(text));
    },
    { what: `the messages ${wanted.join(' | ')}`, timeout: 60_000 },
  );
}
