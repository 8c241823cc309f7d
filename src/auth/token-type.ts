/** RFC 7519 §5.1 and RFC 9068 §2.1. Other types have other uses, RFC 8725 §3.11. */
const TYPES = ['jwt', 'at+jwt'] as const;

export type TokenType = (typeof TYPES)[number];

/** The type that a `typ` names, in any case and with `application/` or without (RFC 7515 §4.1.9). */
export function readType(typ: unknown): TokenType | undefined {
  if (typeof typ !== 'string') return undefined;
  const name = typ.toLowerCase().replace(/^application\//, '');
  return TYPES.find((type) => type === name);
}
