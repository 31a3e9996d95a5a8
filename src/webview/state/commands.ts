/** What can be typed instead of a prompt. Anything else that starts with a slash is text like any other. */
import { words } from '../words.ts';

const commandNames = ['/compact', '/archive', '/new', '/model'] as const;
export type CommandName = (typeof commandNames)[number];

export interface Command {
  readonly name: CommandName;
  readonly detail: string;
}

const commands: readonly Command[] = commandNames.map((name) => ({ name, detail: words.commands[name] }));

/** Always the same, so that ordinary typing tells nobody of a change. */
export const noCommands: readonly Command[] = [];

/** The command that a text is, alone; null for a prompt. */
export function findCommand(text: string): CommandName | null {
  return commandNames.find((name) => name === text.trim()) ?? null;
}

/** The commands that a text may become. */
export function findCompletions(text: string): readonly Command[] {
  return text.startsWith('/') ? commands.filter(({ name }) => name.startsWith(text)) : noCommands;
}
