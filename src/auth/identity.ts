/** Who is calling, as a verified token says. Made only by `authenticate`. */
export interface Identity {
  /** The display name, or null when the token has none (contract A9). */
  readonly name: string | null;
  /** The roles of the trusted token, compared exactly (contract A10). */
  readonly roles: readonly string[];
}
