import { isWhiteSpace } from './white-space.ts';

/** An escape in an entry for ",", "=", "%", a blank or "#", which would end the entry, the setting or the name in it. */
const ESCAPE = /%(?:2C|3D|25|20|23)/g;

/**
 * The entries of a comma-separated setting in their order, and those that are malformed, as they are written: refused by
 * `parse`, which gets an entry before it is decoded, or, unless blanks are trimmed, with white space around them or empty
 * (contract A13).
 */
export function readList<Entry>(
  text: string,
  parse: (entry: string) => Entry | undefined,
  blanks: 'refused' | 'trimmed' = 'refused',
): { readonly entries: readonly Entry[]; readonly malformed: readonly string[] } {
  const entries: Entry[] = [];
  const malformed: string[] = [];
  for (const one of text.split(',')) {
    const written = blanks === 'trimmed' ? one.trim() : one;
    if (blanks === 'trimmed' && written === '') continue;
    const entry = isBare(written) ? parse(written) : undefined;
    if (entry === undefined) malformed.push(written);
    else entries.push(entry);
  }
  return { entries, malformed };
}

/** Whether a text is not empty, and has no white space around it. */
export function isBare(text: string): boolean {
  return text !== '' && !isWhiteSpace(text[0]) && !isWhiteSpace(text.at(-1));
}

/** An entry with its escapes decoded once; undefined where a `%` begins no escape. */
export function decodeEntry(entry: string): string | undefined {
  if (entry.replaceAll(ESCAPE, '').includes('%')) return undefined;
  return entry.replaceAll(ESCAPE, (written) => decodeURIComponent(written));
}
