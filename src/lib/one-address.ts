/** Characters that end an address in a list, or begin one in a list of JSON; they count percent-encoded too. */
const SEVERAL = /[\s,;|"'[](?:[a-z][a-z0-9+.-]*:\/\/|urn:)|^[a-z][a-z0-9+.-]*:\/\/[^/?#]*[\s,;|]/i;

/** `{tenantid}`, `<realm>`, `…`, `$TENANT`, `$(TENANT)` and `%TENANT%`. In a query, `$format` is a name. */
const PLACEHOLDER = /[{}<>…]|\$[A-Z_(]|^[^?]*\$[a-z]|%(?![0-9A-Fa-f]{2})\w+%/;

const ENCODED = /%(?:2C|3B|7C|20|22|7B|7D|3C|3E|24)/gi;

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
