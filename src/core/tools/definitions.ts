/** Recognising, line by line and in many languages at once, where something is defined. */

export interface LineKind {
  readonly kind: 'definition' | 'comment' | 'import' | 'heading' | 'other';
  /** What is defined, or a heading's words. */
  readonly name: string;
}

const keyword =
  /^\s*(?:(?:export|default|declare|abstract|async|public|private|protected|internal|static|final|sealed|open|data|pub(?:\([^)]*\))?|unsafe|const|inline|override|virtual|partial|local)\s+)*(?:function\*?|class|interface|type|enum|namespace|module|trait|struct|union|impl|def|fn|func|fun|sub|record|object|protocol|mod|macro_rules!)\s+(?:\([^)]*\)\s*)?([\p{L}_$][\p{L}\p{N}_$]*)/u;
const variable =
  /^\s*(?:(?:export|declare|public|private|protected|static|readonly|final|pub)\s+)*(?:const|let|var|val)\s+(?:mut\s+)?([\p{L}_$][\p{L}\p{N}_$]*)/u;
/** `name(…) {` as methods are written; the words that look like calls but open a block are left out. */
const method =
  /^\s+(?:(?:public|private|protected|static|async|override|readonly|get|set|virtual|final|abstract|[\p{Lu}][\p{L}\p{N}<>[\],]*|void|int|long|double|float|bool|boolean|string)\s+)*(?!(?:if|for|while|switch|catch|return|function|with|await|new|throw|else|do|typeof)\b)#?([\p{L}_$][\p{L}\p{N}_$]*)\s*(?:<[^>]*>)?\([^;]*\)\s*(?::[^;=]+)?\{\s*$/u;
const table =
  /^\s*create\s+(?:table|view|function|procedure|index|trigger)\s+(?:if\s+not\s+exists\s+)?["`[]?(\w+)/i;
const heading = /^#{1,6}\s+(.+)/;
const comment = /^\s*(?:\/\/|\/\*|\*|#(?=[\s!#]|$)|--\s|<!--|"""|''')/;
const decorator = /^\s*(?:@[\w.]+|#\[|\[\w+(?:\(.*\))?\]\s*$)/;
const importing =
  /^\s*(?:import\b|from\s+\S+\s+import\b|export\s+(?:\*|\{[^}]*\})\s+from\b|use\s|using\s|#include|require\b|const\s.*=\s*require\()/;

/** `isMarkdown`: `#` starts a heading there, and a comment in most other places. */
export function classifyLine(line: string, isMarkdown: boolean): LineKind {
  if (isMarkdown) {
    const words = heading.exec(line)?.[1];
    return words === undefined ? other : { kind: 'heading', name: words };
  }
  if (comment.test(line) || decorator.test(line)) return { kind: 'comment', name: '' };
  if (importing.test(line)) return { kind: 'import', name: '' };
  const name = (keyword.exec(line) ?? variable.exec(line) ?? table.exec(line) ?? method.exec(line))?.[1];
  return name === undefined ? other : { kind: 'definition', name };
}

const other: LineKind = { kind: 'other', name: '' };

/** Columns of white space before the text; a tab counts four. */
export function indentOf(line: string): number {
  let columns = 0;
  for (const character of line) {
    if (character === ' ') columns += 1;
    else if (character === '\t') columns += 4;
    else break;
  }
  return columns;
}
