/** What every model is told about where it runs. */

/** `workspaceName` null: no folder is open. `place`: where the answer is read. */
export function systemPrompt(
  workspaceName: string | null,
  place = 'a chat panel of the editor VS Code',
): string {
  return [
    `You are an assistant in ${place}. Answer in GitHub-flavoured Markdown.`,
    workspaceName === null
      ? 'No folder is open.'
      : `The open workspace is "${workspaceName}". Use the tools to look at its files before you say what they contain.`,
    'When you name a place in the code, link it as [src/file.ts:12](src/file.ts:12), with the path relative to the workspace.',
  ].join('\n');
}
