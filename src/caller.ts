/** Who is calling, as a verified token says. Made only by `readIdentity`. */
export interface Identity {
  /** The display name, or null when the token has none (contract A9). */
  readonly name: string | null;
  /** The roles of the trusted token, by the names that this service gives them (contract A10). */
  readonly roles: readonly string[];
  /** Tells the caller from every other (RFC 7519 §4.1.1, §4.1.2), or null when the token names no subject. */
  readonly caller: readonly [issuer: string, subject: string] | null;
}

/** Who may call a route. Every route states it; the method alone never decides (specification, Endpoints, rule 4). */
export type Access = 'open' | 'authenticated' | 'CanWriteTodos';
