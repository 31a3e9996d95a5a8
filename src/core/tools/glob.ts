/**
 * Globs as in VS Code: `*` and `?` stay inside a path segment, `**` crosses them, `{a,b}` chooses, `[a-z]` and `[!a-z]`
 * match one character. Anything else is literal; an unclosed bracket is, too.
 */
export function globToRegExp(glob: string): RegExp {
  return new RegExp(`^${translate(glob.replace(/^\.?\//, ''))}$`, 'u');
}

/** Whether the text means anything but itself as a glob. */
export function isGlob(text: string): boolean {
  return /[*?[{]/.test(text);
}

function translate(glob: string): string {
  let source = '';
  let index = 0;
  while (index < glob.length) {
    const rest = glob.slice(index);
    const [matched, translated] = translateNext(rest);
    source += translated;
    index += matched;
  }
  return source;
}

/** How many characters of the glob were translated, and into what. */
function translateNext(rest: string): [number, string] {
  if (rest.startsWith('**/')) return [3, '(?:.*/)?'];
  if (rest.startsWith('**')) return [2, '.*'];
  if (rest.startsWith('*')) return [1, '[^/]*'];
  if (rest.startsWith('?')) return [1, '[^/]'];
  const choice = /^\{([^{}]*)\}/.exec(rest);
  if (choice?.[1] !== undefined) {
    return [choice[0].length, `(?:${choice[1].split(',').map(translate).join('|')})`];
  }
  const characters = /^\[(!?)([^\]/]+)\]/.exec(rest);
  if (characters?.[2] !== undefined) {
    const isRangeValid = isCharacterClass(characters[2]);
    if (isRangeValid) {
      const inside = escapeClass(characters[2]);
      return [characters[0].length, `(?!/)[${characters[1] === '!' ? '^' : ''}${inside}]`];
    }
  }
  const character = String.fromCodePoint(rest.codePointAt(0) ?? 0);
  return [character.length, escapeRegExp(character)];
}

/** A range that runs backwards (`[z-a]`) would not compile. */
function isCharacterClass(inside: string): boolean {
  return [...inside.matchAll(/(.)-(.)/gu)].every(([, from = '', to = '']) => from <= to);
}

function escapeClass(inside: string): string {
  return inside.replace(/[\\^[\]]/g, '\\$&');
}

export function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
