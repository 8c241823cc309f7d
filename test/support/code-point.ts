import fc from 'fast-check';

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/**
 * Any code point but surrogates, as a `unit` for `fc.string`. The unit `binary` of fast-check gives the same, and makes a
 * table of all of them before: more than a second of processor time in each test file.
 */
export const codePoint = fc
  .nat({ max: 0x10ffff - SURROGATES })
  .map((index) => String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES), indexOf);

/** -1, which is none, for what is not one of them. fast-check looks by it for texts like `__proto__` that can be made of them. */
function indexOf(text: unknown): number {
  if (typeof text !== 'string' || !/^\P{Surrogate}$/su.test(text)) return -1;
  const code = text.codePointAt(0) ?? 0;
  return code < FIRST_SURROGATE ? code : code - SURROGATES;
}
