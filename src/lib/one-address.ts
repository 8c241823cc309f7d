/**
 * What stands between addresses of a list, also one of JSON. They count percent-encoded too. URL parsers take white space
 * out of a scheme, so it stands before known ones alone.
 */
const SEVERAL =
  /[,;|"'[](?:[a-z][a-z0-9+.-]*:\/\/|urn:)|\s(?:https?:\/\/|urn:)|^[a-z][a-z0-9+.-]*:\/\/[^/?#]*[ ,;|]/i;

/** `{tenantid}`, `<realm>`, `…`, `$TENANT`, `$(TENANT)`, `%TENANT%`, `%(tenant)s`. In a query, `$format` is a name. */
const PLACEHOLDER = /[{}<>…]|\$[A-Z_(]|^[^?]*\$[a-z]|%\(|%(?![0-9A-Fa-f]{2})\w+%/;

const ENCODED = /%(?:0[9AD]|2C|3B|7C|20|22|7B|7D|3C|3E|24)/gi;

/**
 * Whether a text is one address or name, and not several, or a template with a placeholder: each of these would be
 * compared, or asked for, as it stands. Not a grammar of addresses: issuers have many forms. User and password may have
 * any character.
 */
export function isOneAddress(text: string): boolean {
  const address = text.replace(/:\/\/[^/?#]*@/, '://');
  const plain = address.replaceAll(ENCODED, (written) => decodeURIComponent(written));
  return !SEVERAL.test(plain) && !PLACEHOLDER.test(plain);
}
