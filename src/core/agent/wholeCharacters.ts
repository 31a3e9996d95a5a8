/**
 * Providers cut their chunks anywhere, also between the two halves of a character outside the Basic Multilingual Plane.
 * A lone half becomes U+FFFD when it is encoded as UTF-8 on its way to disk, so what the page shows and what the store
 * holds would differ; therefore a half waits here for the other one.
 */
export class WholeCharacters {
  private held = '';

  /** The part of `text`, with what was held back before, that ends at a character's end. */
  push(text: string): string {
    const joined = this.held + text;
    const last = joined.charCodeAt(joined.length - 1);
    const endsInside = last >= 0xd800 && last <= 0xdbff;
    this.held = endsInside ? joined.slice(-1) : '';
    return toWholeCharacters(endsInside ? joined.slice(0, -1) : joined);
  }

  /** What is left when nothing more will come. */
  end(): string {
    const rest = toWholeCharacters(this.held);
    this.held = '';
    return rest;
  }
}

const loneHalf = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** Replaces halves that have no other half by U+FFFD, as the encoder would. */
export function toWholeCharacters(text: string): string {
  return text.replace(loneHalf, '\uFFFD');
}
