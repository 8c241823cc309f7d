/** A caller, as a verified token names it. Made only by `readIdentity`. */
export interface Identity {
  /** The display name, or null when the token has none (contract A9). */
  readonly name: string | null;
  /** The roles of the trusted token, by the names that this service gives them (contract A10). */
  readonly roles: readonly string[];
  /** Issuer and subject, which no two callers share (RFC 7519 §4.1.1, §4.1.2); null when the token names no subject. */
  readonly caller: readonly [issuer: string, subject: string] | null;
}

/** Code points of a subject or a name that a line shows. */
const MAX_SHOWN = 200;

/** The caller, for an event that begins with `todo-`. */
export function actor({ caller, name }: Identity) {
  return { subject: caller && cut(caller[1]), name: name && cut(name) };
}

/** A code point has two units at most. */
function cut(text: string): string {
  if (text.length <= MAX_SHOWN) return text;
  return [...text.slice(0, 2 * MAX_SHOWN)].slice(0, MAX_SHOWN).join('');
}
