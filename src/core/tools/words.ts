/**
 * Words of questions and of code, brought to a form in which they meet: `calculated` finds `calculatePrice`, `prices`
 * finds `PRICE_LIST`. Chinese, Japanese and Korean text has no word ends to go by and is kept in pieces.
 */

/** Of a question: what it asks with, not what it asks about. */
const questionWords = new Set(
  (
    'a about above actually all also am an and any are aren as at be because been before being below between both but ' +
    'by can could did do does doesn doing don done during each either else every for from had has have having he her ' +
    'here hers him his how i if in into is isn it its itself just let like long many may me might mine more most much must ' +
    'my need no nor not now of off ok okay on once only or other our ours out over own per please same shall she ' +
    'should so some such than thank thanks that the their theirs them then there these they this those through to ' +
    'too under until up upon us very want was wasn we were what whats when where wheres which while who whom whose ' +
    'why will with within without won would yes yet you your yours'
  ).split(' '),
);

/** Of a question about a workspace: words that every such question has. They count only when there is nothing else. */
const workspaceWords = new Set(
  (
    'app application class classes code codebase declared declaration defined definition describe display does ' +
    'exist exists explain file files find folder folders function functions get give go handled happen happens ' +
    'implement implementation implemented implements know line lines list live lives located look made make makes ' +
    'method methods module modules place program project repo repository search see show source tell thing things ' +
    'use used uses using work workings works workspace written'
  ).split(' '),
);

const cjk = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}ー';
const cjkRun = new RegExp(`[${cjk}]+`, 'gu');
const tokens = new RegExp(`[${cjk}]+|(?:(?![${cjk}])[\\p{L}\\p{M}\\p{N}_$])+`, 'gu');

const plainTokens = /[A-Za-z0-9_$]+/g;
const hasOtherScripts = /[^\0-\x7f]/;

/** Chinese question words and particles, and Japanese ones: they separate what is asked about. */
const cjkSeparators =
  /请问|什么|怎么样|怎么|怎样|如何|为什么|哪里|哪儿|哪个|哪些|在哪|多少|是否|是不是|有没有|[在是的了吗呢吧和与或被把里中]|どこ|どの|どう|なに|何|いつ|だれ|誰|なぜ|ですか|ますか|ました|します|されて|している|して|いる|ある|です|ます|から|まで|[はがをにでのとへもや]/u;

export interface SearchWord {
  /** As it was written. */
  readonly text: string;
  /** What is compared: stems of its parts in order; for CJK the text itself. */
  readonly stems: readonly string[];
  readonly isCjk: boolean;
}

/** What a question is about, in its order, each word once; `workspaceWords` only when there is nothing else. */
export function keywords(question: string): string[] {
  const specific = specificKeywords(question);
  return specific.length > 0 ? specific : contentWords(question);
}

/** Words that tell this question from others about a workspace. */
export function specificKeywords(question: string): string[] {
  return contentWords(question).filter((word) => !workspaceWords.has(word.toLowerCase()));
}

function contentWords(question: string): string[] {
  const found = question.match(tokens) ?? [];
  const all = distinct(found.flatMap((token) => (isCjk(token) ? cjkPieces(token) : [trimToken(token)])));
  return all.filter((word) => isCjk(word) || !isQuestionWord(word));
}

/** Words for a search: every word of the query counts, except where there are only question words besides. */
export function searchWords(query: string): SearchWord[] {
  const words = keywords(query);
  return words.map((text) => ({
    text,
    stems: isCjk(text) ? [text] : distinct(splitIdentifier(text).map(stem)),
    isCjk: isCjk(text),
  }));
}

/** The parts of a name: `calculateRentalPrice`, `MAX_SIZE`, `HTTPServer2`. */
export function splitIdentifier(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((part) => part !== '');
}

/** Names and words of a line of code or text, CJK runs among them. */
export function lineTokens(line: string): string[] {
  // Plain code is most of a workspace, and the general pattern takes ten times as long.
  const pattern = hasOtherScripts.test(line) ? tokens : plainTokens;
  return line.match(pattern) ?? [];
}

function isCjk(text: string): boolean {
  cjkRun.lastIndex = 0;
  return cjkRun.test(text);
}

/** Longest first; what is left must still be a word of three letters. */
const suffixes = (
  'ations ating ation ators ated ates ator ate ments ment ions ings ing ion ables able als ers ors eds al er or ed ' +
  'es ly e s'
).split(' ');

/** The part of an English word that its forms share. Crude: only equal treatment of question and code matters. */
export function stem(word: string): string {
  const lower = word.toLowerCase();
  if (!/^[a-z]+$/.test(lower)) return lower;
  const base = lower.endsWith('ies') ? `${lower.slice(0, -3)}y` : lower;
  for (const suffix of suffixes) {
    if (!base.endsWith(suffix) || base.length - suffix.length < 3) continue;
    if (suffix === 's' && /[sui]s$/.test(base)) continue;
    return finishStem(base.slice(0, -suffix.length));
  }
  return finishStem(base);
}

function finishStem(base: string): string {
  return base.replace(/([b-df-hj-np-tv-z])\1$/, '$1').replace(/y$/, 'i');
}

function isQuestionWord(word: string): boolean {
  return questionWords.has(word.toLowerCase()) || (word.length === 1 && !/\p{N}/u.test(word));
}

function trimToken(token: string): string {
  return token.replace(/^_+|_+$/g, '');
}

/** Pieces of at most three characters are words often enough; longer ones are cut into overlapping pairs. */
function cjkPieces(run: string): string[] {
  return run.split(cjkSeparators).flatMap((piece) => {
    const characters = [...piece];
    if (characters.length <= 3) return [piece];
    return characters.slice(1).map((character, index) => `${characters[index] ?? ''}${character}`);
  });
}

function distinct(values: readonly string[]): string[] {
  const seen = new Set<string>();
  return values.filter((value) => {
    const key = value.toLowerCase();
    if (value === '' || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
