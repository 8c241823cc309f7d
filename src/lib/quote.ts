import { existsSync } from 'node:fs';

/** A received text, for a message: JSON in ASCII, in which all is seen as it is. "…" stands for what is not shown. */
export function quote(text: string): string {
  return JSON.stringify(text).replace(/[^ -~…]/g, escapeOf);
}

/** A received value that should be a text, for a message, shortened. Another value may be nested too deeply for JSON. */
export function quoteShort(value: unknown): string {
  return typeof value === 'string' ? quote(value.slice(0, 100)) : 'no string';
}

/** The name of a file, for a message. Nothing is quoted of a text that names none: it may be a secret itself. */
export function quoteFile(text: string): string {
  return existsSync(text) ? quote(text) : 'a name';
}

/** Scheme, user and password, host and port, path, and the rest behind a question mark or a hash. */
const ADDRESS = /^(\s*[a-z][a-z0-9+.-]*:\/\/)([^/?#@]*@)?([^/?#@]+)(\/[^?#@]*)?(?:([?#])[^@]*)?$/is;

/** Without slashes, only a known one: a user's name may stand in its place. */
const SCHEME = /^\s*(?:[a-z][a-z0-9+.-]*:\/\/|(?:https?|postgres(?:ql)?|sqlite|urn):)/i;

const URN = /^urn:[^@?#=]*$/i;
const SHOWABLE_HOST = /^(?:\[[0-9a-f:.%]+\]|[^:;=&@[\]\s]*)(?::\d{1,5})?$/i;

/**
 * An address as a person wrote it, for a message, without the parts that may be a credential: user and password, query
 * and fragment become "…". Of a text that is no address of a host only the scheme is quoted: a password with an `@` or a
 * `/` of its own has no certain end.
 */
export function quoteAddress(text: string): string {
  if (URN.test(text)) return quote(text);
  const [, scheme, user, hosts, path = '', delimiter] = ADDRESS.exec(text) ?? [];
  const areShown = hosts
    ?.trim()
    .split(',')
    .every((host) => SHOWABLE_HOST.test(host));
  if (!areShown) return quoteScheme(text);
  return quote([scheme, user && '…@', hosts, path, delimiter && `${delimiter}…`].join(''));
}

/** The scheme of an address alone. */
export function quoteScheme(text: string): string {
  return quote(`${SCHEME.exec(text)?.[0] ?? ''}…`);
}

const MAY_HOLD_PASSWORD = /[@?#=]|:(?!\/\/|(?:\d{1,5}|\*)(?:[/,\s]|$))/;

/**
 * The received value of a setting, for a message: as it stands where it cannot hold a credential, else as `quoteAddress`
 * shows it. Without `@`, `?`, `#` and `=`, only a colon that begins no port may begin a password.
 */
export function quoteReceived(text: string): string {
  const open = !MAY_HOLD_PASSWORD.test(text.replace(/\[[0-9a-f:.%]+\]/gi, ''));
  return open ? quote(text) : quoteAddress(text);
}

/** One word of a command that people copy into a shell, quoted where it must be. */
export function shellWord(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** JSON in which nothing moves a terminal's cursor or turns the direction of writing. */
export function quoteJson(value: unknown): string {
  return escapeHidden(JSON.stringify(value));
}

/** The same of a claim that may be missing. */
export function quoteClaim(value: unknown): string {
  return value === undefined ? 'nothing' : quoteJson(value);
}

/**
 * Characters that steer a terminal, end a line for some readers, turn the direction of text round, or show nothing:
 * control, format and unassigned characters, lone surrogates, line separators, zero-width characters, the blank
 * of Braille.
 */
const HIDDEN = /[^\P{C}\n]|[\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** The text with hidden characters but line breaks as escapes of JSON: they could forge a line. JSON stays the same. */
export function escapeHidden(text: string): string {
  return text.replace(HIDDEN, (character) => character.replace(/./gs, escapeOf));
}

function escapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
