/** Scheme, user and password, host and port, path, and what follows a question mark or a hash. */
const ADDRESS = /^(\s*[a-z][a-z0-9+.-]*:\/\/)([^/?#@]*@)?([^/?#@]+)(\/[^?#@]*)?(?:([?#])[^@]*)?$/is;

const SCHEME = /^\s*[a-z][a-z0-9+.-]*:(?:\/\/)?/i;

const HOST = /^(?:\[[0-9a-f:.%]+\]|[^:@[\]\s]*)(?::\d{1,5})?$/i;

/**
 * An address as somebody wrote it, for a message, without what may be a credential: user and password, query and
 * fragment become "…". Of a text that is no address of a host only the scheme is quoted: nobody knows where a
 * password ends that has an `@` or a `/` of its own.
 */
export function quoteAddress(text: string): string {
  const [, scheme, user, hosts, path = '', mark] = ADDRESS.exec(text) ?? [];
  if (scheme === undefined || hosts === undefined || !areHosts(hosts.trim())) return quoteScheme(text);
  const masked = [scheme, user && '…@', hosts, path, mark && `${mark}…`];
  return JSON.stringify(masked.filter((part) => part !== undefined).join(''));
}

/** The same with nothing but its scheme. */
export function quoteScheme(text: string): string {
  return JSON.stringify(`${SCHEME.exec(text)?.[0] ?? ''}…`);
}

const URN = /^urn:[^@?#=]*$/i;
const MAY_HOLD_PASSWORD = /[@?#=]|:(?!\/\/|(?:\d{1,5}|\*)(?:[/,\s]|$))/;

/**
 * What was received for a setting, for a message: as it stands where it cannot hold a credential, else as
 * `quoteAddress` shows it. Without `@`, `?`, `#` and `=`, only a colon that begins no port may begin a password.
 */
export function quoteReceived(text: string): string {
  const open = URN.test(text) || !MAY_HOLD_PASSWORD.test(text.replace(/\[[0-9a-f:.%]+\]/gi, ''));
  return open ? JSON.stringify(text) : quoteAddress(text);
}

/** Whether a text is hosts, separated by commas, each with a port or without. */
function areHosts(text: string): boolean {
  return text.split(',').every((host) => HOST.test(host));
}

/** One word of a command that people copy into a shell, quoted where it must be. */
export function shellWord(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** JSON in which nothing moves a terminal's cursor or turns the direction of writing. */
export function quoteJson(value: unknown): string {
  return escapeHidden(JSON.stringify(value));
}

/** A text of others, with an escape for each character that does not show. */
export function escapeHidden(text: string): string {
  return text.replaceAll(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
