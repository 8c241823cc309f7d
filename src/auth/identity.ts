/** Who is calling, as a verified token says. Made only by `authenticate`. */
export interface Identity {
  /** The display name, or null when the token has none (contract A9). */
  readonly name: string | null;
  /** The roles of the trusted token, compared exactly (contract A10). */
  readonly roles: readonly string[];
  /** Tells the caller from every other (RFC 7519 §4.1.1, §4.1.2), or null when the token names no subject. */
  readonly caller: readonly [issuer: string, subject: string] | null;
}
