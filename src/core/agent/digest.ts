/**
 * An extractive summary of a chat, made without a model: what the user wants, which files were touched, what was decided,
 * where things stand. It stands for the rows that compaction leaves behind, and it is what memory keeps.
 *
 * Every sentence in it was said in the chat. Texts of errors are left out: they are no part of the conversation.
 */
import * as v from 'valibot';
import type { Message, ToolCall } from '../session/model.ts';

const goalPrompts = 3;
const mostFiles = 30;
const mostDecisions = 10;
/** Longest quotations, in UTF-16 units. */
const goalLength = 400;
const decisionLength = 240;
const stateLength = 1200;

/** Made message by message, oldest first, so that a long chat is never in memory as a whole. */
export class Digest {
  readonly #goals: string[] = [];
  #lastPrompt: string | null = null;
  #lastAnswer: string | null = null;
  /** The files that tools were asked for, the latest last. */
  readonly #files = new Set<string>();
  /** Sentences in which the user ruled something or the assistant settled it. */
  readonly #decisions = new Set<string>();

  add({ active, status, role, text, toolCalls }: Message): void {
    if (!active || status === 'not_sent' || (role !== 'user' && role !== 'assistant')) return;
    for (const call of toolCalls) {
      const path = fileOf(call);
      if (path === null) continue;
      this.#files.delete(path);
      this.#files.add(path);
    }
    if (text.trim() === '') return;
    for (const decision of decisionsIn(role, text)) this.#decisions.add(decision);
    if (role === 'assistant') this.#lastAnswer = text;
    else if (this.#goals.length < goalPrompts) this.#goals.push(quote(text, goalLength));
    else this.#lastPrompt = text;
  }

  /** Empty for a chat without text. */
  get text(): string {
    const lastState = [
      ...(this.#lastPrompt === null ? [] : [`User: ${quote(this.#lastPrompt, goalLength)}`]),
      ...(this.#lastAnswer === null ? [] : [`Assistant: ${quote(this.#lastAnswer, stateLength)}`]),
    ];
    const sections = [
      section('Goal', this.#goals),
      section('Files touched', [...this.#files].slice(-mostFiles)),
      section('Decisions', [...this.#decisions].slice(-mostDecisions)),
      section('Last state', lastState),
    ];
    return sections.filter((text) => text !== '').join('\n\n');
  }
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

/** Null: the tool was asked for no file. */
function fileOf({ arguments: text }: ToolCall): string | null {
  const parsed = v.safeParse(pathArguments, parseJson(text));
  return parsed.success ? parsed.output.path : null;
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

function decisionsIn(role: 'user' | 'assistant', text: string): string[] {
  const pattern = role === 'user' ? ruling : conclusion;
  return sentencesOf(text)
    .filter((sentence) => pattern.test(sentence))
    .map((sentence) => quote(sentence, decisionLength));
}

/** Prose only: code blocks hold keywords, not decisions. */
function sentencesOf(text: string): string[] {
  const prose = text.replace(/```[\s\S]*?(```|$)/g, '\n');
  return prose.split(/(?<=[.!?])\s+|\n+/).filter((sentence) => sentence.trim() !== '');
}
