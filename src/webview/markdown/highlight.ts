/** Colours for code: highlight.js as a tree of scopes, rendered to elements; its HTML output is never used. */
import type { Emitter } from 'highlight.js';
import highlighter from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import markdown from 'highlight.js/lib/languages/markdown';
import php from 'highlight.js/lib/languages/php';
import powershell from 'highlight.js/lib/languages/powershell';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

/** A piece of code: its text, or pieces under a scope such as `string` or `title.function`. */
export type CodePiece = string | { readonly scope: string; readonly pieces: CodePiece[] };

/** Longer code is shown plain: colouring it would hold up the page. */
const longest = 60_000;

/** Collects what highlight.js finds as a tree, in place of its HTML writer. */
class PieceEmitter implements Emitter {
  readonly root: CodePiece[] = [];
  readonly #open: CodePiece[][] = [this.root];

  addText(text: string): void {
    if (text !== '') this.#top().push(text);
  }

  startScope(scope: string): void {
    const pieces: CodePiece[] = [];
    this.#top().push({ scope, pieces });
    this.#open.push(pieces);
  }

  endScope(): void {
    if (this.#open.length > 1) this.#open.pop();
  }

  /** Older names of the two above, still called for the modes of a language. */
  openNode(name: string): void {
    this.startScope(name);
  }

  closeNode(): void {
    this.endScope();
  }

  __addSublanguage(emitter: Emitter): void {
    if (emitter instanceof PieceEmitter) this.#top().push(...emitter.root);
  }

  finalize(): void {
    this.#open.length = 1;
  }

  toHTML(): string {
    return '';
  }

  #top(): CodePiece[] {
    return this.#open.at(-1) ?? this.root;
  }
}

const languages = {
  bash,
  c,
  cpp,
  csharp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  kotlin,
  markdown,
  php,
  powershell,
  python,
  ruby,
  rust,
  sql,
  swift,
  typescript,
  xml,
  yaml,
};

/** With the first code: making the languages takes a good part of what a page without code needs to start. */
function prepare(): void {
  if (highlighter.listLanguages().length > 0) return;
  highlighter.configure({ __emitter: PieceEmitter });
  for (const [name, language] of Object.entries(languages)) highlighter.registerLanguage(name, language);
}

/** The code in pieces; one plain piece when the language is unknown. */
export function highlight(code: string, language: string): readonly CodePiece[] {
  if (code.length > longest || language === '') return [code];
  prepare();
  if (highlighter.getLanguage(language) === undefined) return [code];
  const result = highlighter.highlight(code, { language, ignoreIllegals: true });
  const { _emitter: emitter, errorRaised: error } = result;
  return error === undefined && emitter instanceof PieceEmitter ? emitter.root : [code];
}
