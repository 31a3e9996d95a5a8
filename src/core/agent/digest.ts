/**
 * An extractive summary of a chat, made without a model: what the user wants, which files were touched, what was decided,
 * where things stand. It stands for the rows that compaction leaves behind, and it is what memory keeps.
 *
 * Every sentence in it was said in the chat. Texts of errors are left out: they are no part of the conversation.
 */
import * as v from 'valibot';
import type { Message } from '../session/model.ts';

const goalPrompts = 3;
const mostFiles = 30;
const mostDecisions = 10;
/** Longest quotations, in UTF-16 units. */
const goalLength = 400;
const decisionLength = 240;
const stateLength = 1200;

/** Empty for a chat without text. */
export function digest(messages: readonly Message[]): string {
  const said = messages.filter(
    ({ active, status, role }) =>
      active && status !== 'not_sent' && (role === 'user' || role === 'assistant'),
  );
  const prompts = said.filter(({ role, text }) => role === 'user' && text.trim() !== '');
  const answers = said.filter(({ role, text }) => role === 'assistant' && text.trim() !== '');
  const sections = [
    section(
      'Goal',
      prompts.slice(0, goalPrompts).map(({ text }) => quote(text, goalLength)),
    ),
    section('Files touched', filesTouched(said)),
    section('Decisions', decisions(said)),
    section('Last state', [
      ...prompts
        .slice(goalPrompts)
        .slice(-1)
        .map(({ text }) => `User: ${quote(text, goalLength)}`),
      ...answers.slice(-1).map(({ text }) => `Assistant: ${quote(text, stateLength)}`),
    ]),
  ];
  return sections.filter((text) => text !== '').join('\n\n');
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}:\n${lines.map((line) => `- ${line}`).join('\n')}`;
}

/** On one line, cut at the end of a word, never inside a character. */
function quote(text: string, limit: number): string {
  const line = text.trim().replace(/\s+/g, ' ');
  if (line.length <= limit) return line;
  const cut = line.slice(0, limit - 1);
  const space = cut.lastIndexOf(' ');
  return `${(space > limit / 2 ? cut.slice(0, space) : cut).replace(/[\ud800-\udbff]$/, '')}…`;
}

const pathArguments = v.object({ path: v.pipe(v.string(), v.trim(), v.nonEmpty()) });

/** The files that tools were asked for, the latest last. */
function filesTouched(messages: readonly Message[]): string[] {
  const files = new Set<string>();
  for (const call of messages.flatMap(({ toolCalls }) => toolCalls)) {
    const parsed = v.safeParse(pathArguments, parseJson(call.arguments));
    if (!parsed.success) continue;
    files.delete(parsed.output.path);
    files.add(parsed.output.path);
  }
  return [...files].slice(-mostFiles);
}

/** A model may write malformed arguments; then it touched no file. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

const ruling = /\b(must|never|always|instead of|prefer|do not|don['’]t|keep|let['’]s|agreed)\b/i;
const conclusion =
  /\b(decided|decision|chose|agreed|instead of|we will|let['’]s|I(['’]ll| will) (use|keep))\b/i;

/** Sentences in which the user ruled something or the assistant settled it, the latest last. */
function decisions(messages: readonly Message[]): string[] {
  const found = new Set<string>();
  for (const { role, text } of messages) {
    const pattern = role === 'user' ? ruling : conclusion;
    for (const sentence of sentencesOf(text)) {
      if (pattern.test(sentence)) found.add(quote(sentence, decisionLength));
    }
  }
  return [...found].slice(-mostDecisions);
}

/** Prose only: code blocks hold keywords, not decisions. */
function sentencesOf(text: string): string[] {
  const prose = text.replace(/```[\s\S]*?(```|$)/g, '\n');
  return prose.split(/(?<=[.!?])\s+|\n+/).filter((sentence) => sentence.trim() !== '');
}
