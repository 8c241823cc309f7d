/** The reason why a text is not acceptable JSON, and the place. */
export interface JsonFault {
  /** A sentence for people that never quotes the text. */
  readonly problem: string;
  /** 1-based; lines end at LF. */
  readonly line: number;
  /** 1-based, in Unicode code points. */
  readonly column: number;
}

/** Rules for a text beside those of JSON. */
interface JsonRules {
  /** Deepest nesting of arrays and objects; unlimited by default. */
  readonly maxDepth?: number;
  /** Whether member names of an object must be unique. By default the last one counts. */
  readonly uniqueNames?: boolean;
}

const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y;

/** A string as far as it is valid, without the closing quotation mark. */
const STRING = /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*/y;

/** An escape in a string (RFC 8259 §7). */
const ESCAPE = /\\(?:u(.{4})|.)/g;
const ESCAPED: Readonly<Record<string, string>> = {
  '\\b': '\b',
  '\\f': '\f',
  '\\n': '\n',
  '\\r': '\r',
  '\\t': '\t',
};

const UNKNOWN = 'This escape is unknown. A backslash is written as \\\\, an apostrophe without one.';
const UNICODE = 'A Unicode escape has four hexadecimal digits. A backslash is written as \\\\.';

/** The beginning of an escape behind which the text ends. */
const CUT_ESCAPE = /^\\(?:u[0-9a-fA-F]{0,3})?$/;

/** Names of control characters; others go by their number. */
const CONTROLS: Readonly<Record<string, string>> = {
  '\b': 'A backspace',
  '\t': 'A tab',
  '\n': 'A line break',
  '\f': 'A form feed',
  '\r': 'A carriage return',
  '\r\n': 'A line break',
};

/** Characters. V8 copies a part of a text that is this short; a longer part keeps the whole text in memory. */
const MAX_COPIED = 12;

const LITERALS = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** The token that may come next: a value, a name, or that behind a complete value. `…OrEnd` just after `[` or `{`. */
type Expectation = 'value' | 'valueOrEnd' | 'name' | 'nameOrEnd' | 'next';

const WANTED: Readonly<Record<Expectation, string>> = {
  value: 'A value is expected.',
  valueOrEnd: 'A value or "]" is expected.',
  name: 'A member name in double quotes is expected.',
  nameOrEnd: 'A member name in double quotes or "}" is expected.',
  next: 'A comma or a closing bracket is expected.',
};

/** An array or object whose end has not come yet. */
type Container =
  | { readonly end: ']'; readonly value: unknown[] }
  | { readonly end: '}'; readonly value: Record<string, unknown>; name: string };

/**
 * The value of a JSON text (RFC 8259) from outside, or its fault and the place. Accepts the texts that `JSON.parse`
 * accepts, with the values of `JSON.parse` in a new process, in one pass and without recursion. Only a fraction that
 * `JSON.parse` rounds to an integer has another value: it stays a fraction.
 *
 * Below 24.22.3 and 26.12, `JSON.parse` may take a member name with escapes for a name of an earlier text, so that any client
 * could change the meaning of later texts (https://issues.chromium.org/issues/521080746).
 */
export function parseJson(
  text: string,
  { maxDepth = Number.POSITIVE_INFINITY, uniqueNames = false }: JsonRules = {},
): { readonly value: unknown } | { readonly fault: JsonFault } {
  const open: Container[] = [];
  let container: Container | undefined;
  let root: unknown;
  let expected: Expectation = 'value';
  let at = 0;

  const faultAt = (problem: string) => ({ fault: faultIn(text, at, problem) });
  const skipWhiteSpace = (): void => {
    while (isWhiteSpace(text.charCodeAt(at))) at += 1;
  };
  /** The string at this place; undefined behind the part of it that is valid. */
  const takeString = (): string | undefined => {
    STRING.lastIndex = at;
    STRING.test(text);
    const from = at;
    at = STRING.lastIndex;
    if (text[at] !== '"') return undefined;
    at += 1;
    return textOf(text.slice(from, at));
  };
  const takeScalar = (): unknown => {
    SCALAR.lastIndex = at;
    if (!SCALAR.test(text)) return undefined;
    const written = text.slice(at, SCALAR.lastIndex);
    at = SCALAR.lastIndex;
    return LITERALS.has(written) ? LITERALS.get(written) : numberOf(written);
  };
  const put = (value: unknown): void => {
    if (container === undefined) root = value;
    else if (container.end === ']') container.value.push(value);
    else setMember(container.value, container.name, value);
  };

  for (;;) {
    skipWhiteSpace();
    const character = text[at];
    if (character === undefined) {
      if (expected === 'next' && container === undefined) return { value: root };
      return faultAt(text.trim() === '' ? 'The body is empty.' : 'The text ends too early.');
    }
    if (expected === 'next' && container === undefined) return faultAt('Nothing may follow the value.');
    if (expected === 'next' && character === ',') {
      expected = container?.end === '}' ? 'name' : 'value';
      at += 1;
    } else if (container?.end === character && expected !== 'name' && expected !== 'value') {
      const { value } = container;
      open.pop();
      container = open.at(-1);
      put(value);
      expected = 'next';
      at += 1;
    } else if (expected === 'next') {
      return faultAt(WANTED.next);
    } else if (container?.end === '}' && expected !== 'value') {
      if (character !== '"') return faultAt(WANTED[expected]);
      const name = takeString();
      if (name === undefined) return { fault: faultOfString(text, at) };
      container.name = name;
      if (uniqueNames && Object.hasOwn(container.value, container.name))
        return faultAt('This member stands there twice.');
      skipWhiteSpace();
      if (text[at] !== ':') return faultAt('A colon is expected.');
      expected = 'value';
      at += 1;
    } else if (character === '{' || character === '[') {
      if (open.length === maxDepth) return faultAt(`Arrays and objects may nest ${maxDepth} levels deep.`);
      container = character === '{' ? { end: '}', value: {}, name: '' } : { end: ']', value: [] };
      open.push(container);
      expected = character === '{' ? 'nameOrEnd' : 'valueOrEnd';
      at += 1;
    } else {
      const value = character === '"' ? takeString() : takeScalar();
      if (value === undefined) {
        if (character === '"') return { fault: faultOfString(text, at) };
        return faultAt(scalarProblem(text.slice(at, at + 2)) ?? WANTED[expected]);
      }
      put(value);
      expected = 'next';
    }
  }
}

/** Whether a value is an object of JSON: neither null nor an array. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fault at a place in a text that is JSON, but not the JSON that is wanted. @param at UTF-16 index. */
export function faultIn(text: string, at: number, problem: string): JsonFault {
  const lines = text.slice(0, at).split('\n');
  return { problem, line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
}

function isWhiteSpace(character: number): boolean {
  return character === 0x20 || character === 0x0a || character === 0x0d || character === 0x09;
}

/**
 * The double that is nearest to a number; for a fraction the nearest one that no check takes for its integer: a
 * neighbour, or 2^53 where the neighbours are integers.
 */
function numberOf(written: string): number {
  const nearest = Number(written);
  if (!Number.isSafeInteger(nearest) || /^-?\d+$/.test(written)) return nearest;
  const [mantissa = '', exponent] = written.replace(/^-/, '').split(/e/i);
  const point = mantissa.indexOf('.');
  const digits = mantissa.replace('.', '');
  /** Digits before the point, once the exponent has moved it. */
  const whole = (point === -1 ? digits.length : point) + Number(exponent ?? 0);
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  if (end === 0 || whole >= end) return nearest;
  const isAbove = Number(digits.slice(0, Math.max(0, whole))) === Math.abs(nearest);
  BITS.setFloat64(0, nearest);
  BITS.setBigInt64(0, BITS.getBigInt64(0) + (isAbove ? 1n : -1n));
  const neighbour = BITS.getFloat64(0);
  return Number.isSafeInteger(neighbour) ? Math.sign(neighbour) * 2 ** 53 : neighbour;
}

const BITS = new DataView(new ArrayBuffer(8));

/** The value of a string, given as it is written, quotation marks included. */
function textOf(written: string): string {
  const text = written.slice(1, -1);
  if (text.includes('\\')) return text.replace(ESCAPE, unescaped);
  return text.length <= MAX_COPIED ? text : JSON.parse(written);
}

function unescaped(written: string, digits: string | undefined): string {
  if (digits !== undefined) return String.fromCharCode(Number.parseInt(digits, 16));
  return ESCAPED[written] ?? written.slice(1);
}

/** The fault of a string that is not valid from this place on. */
function faultOfString(text: string, at: number): JsonFault {
  const next = text.slice(at, at + '\\u0000'.length);
  if (next === '') return faultIn(text, at, 'The text ends inside a string.');
  if (CUT_ESCAPE.test(next)) return faultIn(text, text.length, 'The text ends inside an escape.');
  if (next.startsWith('\\')) return faultIn(text, at, next[1] === 'u' ? UNICODE : UNKNOWN);
  const control = next.startsWith('\r\n') ? '\r\n' : next.charAt(0);
  const escaped = JSON.stringify(control).slice(1, -1);
  const name = CONTROLS[control] ?? `The control character U+${escaped.slice(2).toUpperCase()}`;
  const missing = /[\r\n]/.test(control) ? ', or the closing quotation mark is missing' : '';
  return faultIn(text, at, `${name} in a string must be written as ${escaped}${missing}.`);
}

/** What is wrong with a number or a word; undefined for what begins like neither. */
function scalarProblem(beginning: string): string | undefined {
  if (/^(?:[-+]|\.?\d)/.test(beginning))
    return 'This number is malformed or cut off. Numbers are written as 1, -0.5 or 2.5e3.';
  if (/^[\p{L}_$]/u.test(beginning))
    return 'This word is unknown or cut off. The words are true, false and null; a string stands in double quotes.';
  return undefined;
}

/** `__proto__` is a name like any other, as `JSON.parse` has it: an assignment would set the prototype. */
function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
