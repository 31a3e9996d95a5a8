/**
 * Which addresses of an answer may become links. Everything not named here stays plain text: an answer is written by a
 * model, and `command:` or `vscode:` addresses would act in the editor.
 */

const webAddress = /^(?:https?:\/\/|mailto:)[^\s]+$/i;

/** A relative or absolute path, with an optional place in it: `src/a.ts`, `src/a.ts:12`, `src/a.ts:12:4`, `src/a.ts#L12`. */
const filePath =
  /^(?![\\/]{2})(?:[a-z]:[\\/])?[^\s:#?*"<>|]+(?: [^\s:#?*"<>|]+)*(?::\d+(?::\d+|-\d+)?|#L\d+(?:-L?\d+)?)?$/i;

/** Words that look like a file of code on their own, so that `array.map` does not become a link. */
const fileName =
  /^(?:[\w@~.+-]+[\\/])*[\w@~.+-]*\.(?:[cm]?[jt]sx?|json[c5]?|md|mdx|py|pyi|rs|go|java|kt|kts|cs|cpp|cc|c|h|hpp|swift|rb|php|sh|ps1|sql|ya?ml|toml|ini|xml|html?|css|scss|less|vue|svelte|txt|lock|gradle|tf|proto|lua|dart|ex|exs|scala|r)(?::\d+(?::\d+|-\d+)?|#L\d+(?:-L?\d+)?)?$/i;

/** The address to hand to the host, or null when it may not be a link. */
export function toLink(href: string): string | null {
  const address = href.trim();
  // Control characters are what browsers skip when they read `java\nscript:`.
  // eslint-disable-next-line no-control-regex
  if (address === '' || /[\u0000-\u001f\u007f]/.test(address)) return null;
  if (webAddress.test(address)) return isParsable(address) ? address : null;
  const path = decodePath(address);
  if (path === null || !filePath.test(path)) return null;
  return path;
}

/** The path when inline code names a file, with or without a line. */
export function toFileLink(code: string): string | null {
  return fileName.test(code) ? code : null;
}

export function isWebLink(link: string): boolean {
  return webAddress.test(link);
}

function isParsable(address: string): boolean {
  return URL.canParse(address);
}

function decodePath(address: string): string | null {
  try {
    return decodeURI(address);
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
