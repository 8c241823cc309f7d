/** An escape in a string of JSON (RFC 8259 §7). */
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|.)/gs;

/**
 * `JSON.parse` for text from outside. V8 may take a member name with escapes for a name that an earlier text had: one that
 * begins with a part of what is written, backslash included (https://issues.chromium.org/issues/521080746). So anybody
 * could change what later texts say. Here escapes that need not be any are spelled out first: only a name with a
 * quotation mark, a backslash or a control character may still be taken for another, which has a backslash.
 *
 * @throws {SyntaxError} as `JSON.parse`.
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text.includes('\\') ? text.replace(ESCAPE, spellOut) : text);
}

function spellOut(written: string, digits: string | undefined): string {
  if (digits === undefined) return written === '\\/' ? '/' : written;
  const character = String.fromCharCode(Number.parseInt(digits, 16));
  const mustBeEscaped = character < ' ' || character === '"' || character === '\\';
  return mustBeEscaped ? written : character;
}
