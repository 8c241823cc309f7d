import { parseJson } from '../../parse-json.ts';

/** Deepest nesting of arrays and objects in a request body (contract B5). */
const JSON_MAX_DEPTH = 64;

/** Why and where a text is not acceptable JSON. */
interface JsonFault {
  /** A sentence for people that never quotes the text. */
  readonly problem: string;
  /** 1-based; lines end at LF. */
  readonly line: number;
  /** 1-based, in Unicode code points. */
  readonly column: number;
}

/** @param at UTF-16 index. */
function faultIn(text: string, at: number, problem: string): JsonFault {
  const lines = text.slice(0, at).split('\n');
  return { problem, line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
}

const WHITE_SPACE = /[ \t\n\r]*/y;
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y;
const STRING = /"[ !#-[\]-\u{10ffff}]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\u{10ffff}]*)*"/uy;

/** What may come next: a value, a member name, or what follows a complete value. `…OrEnd` just after `[` or `{`. */
type Expectation = 'value' | 'valueOrEnd' | 'name' | 'nameOrEnd' | 'next';

const WANTED: Readonly<Record<Expectation, string>> = {
  value: 'A value is expected.',
  valueOrEnd: 'A value or "]" is expected.',
  name: 'A member name in double quotes is expected.',
  nameOrEnd: 'A member name in double quotes or "}" is expected.',
  next: 'A comma or a closing bracket is expected.',
};

/**
 * Where and why a text is not one JSON value (RFC 8259), or nests deeper than `JSON_MAX_DEPTH`; undefined when
 * `JSON.parse` will accept it. The errors of `JSON.parse` often lack a position and quote the text.
 */
export function jsonFault(text: string): JsonFault | undefined {
  const open: ('{' | '[')[] = [];
  let expected: Expectation = 'value';
  let at = 0;

  const skip = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const faultAt = (problem: string): JsonFault => faultIn(text, at, problem);

  for (;;) {
    skip(WHITE_SPACE);
    const character = text[at];
    if (character === undefined) {
      if (expected === 'next' && open.length === 0) return undefined;
      return faultAt(text.trim() === '' ? 'The body is empty.' : 'The text ends too early.');
    }
    if (expected === 'next') {
      const container = open.at(-1);
      if (container === undefined) return faultAt('Nothing may follow the value.');
      if (character === ',') expected = container === '{' ? 'name' : 'value';
      else if (character === (container === '{' ? '}' : ']')) open.pop();
      else return faultAt(WANTED.next);
      at += 1;
    } else if (
      (expected === 'nameOrEnd' && character === '}') ||
      (expected === 'valueOrEnd' && character === ']')
    ) {
      open.pop();
      expected = 'next';
      at += 1;
    } else if (expected === 'name' || expected === 'nameOrEnd') {
      if (character !== '"') return faultAt(WANTED[expected]);
      if (!skip(STRING)) return faultAt('This string is not valid.');
      skip(WHITE_SPACE);
      if (text[at] !== ':') return faultAt('A colon is expected.');
      expected = 'value';
      at += 1;
    } else if (character === '{' || character === '[') {
      if (open.length === JSON_MAX_DEPTH)
        return faultAt(`Arrays and objects may nest ${JSON_MAX_DEPTH} levels deep.`);
      open.push(character);
      expected = character === '{' ? 'nameOrEnd' : 'valueOrEnd';
      at += 1;
    } else if (character === '"') {
      if (!skip(STRING)) return faultAt('This string is not valid.');
      expected = 'next';
    } else {
      if (!skip(SCALAR)) return faultAt(WANTED[expected]);
      expected = 'next';
    }
  }
}

/** Like `jsonFault`, for a text that must be an object: what a request body has to be (contract B4). */
export function jsonObjectFault(text: string): JsonFault | undefined {
  const start = text.search(/[^ \t\n\r]/);
  if (start === -1 || text[start] === '{') return jsonFault(text);
  return jsonFault(text) ?? faultIn(text, start, 'An object is expected.');
}

/**
 * What `JSON.parse` makes of a text, unless that has a fault as of `jsonObjectFault`. The search for it costs more than the
 * parser, so it begins only where it may find one.
 */
export function readJsonObject(text: string): { readonly object: object } | { readonly fault: JsonFault } {
  const value = parsed(text);
  if (isObject(value) && !mayNestTooDeep(text)) return { object: value };
  const fault = jsonObjectFault(text);
  return fault === undefined ? { object: Object(parseJson(text)) } : { fault };
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether there are enough opening brackets for it, in strings or not. */
function mayNestTooDeep(text: string): boolean {
  let brackets = 0;
  for (let at = 0; at < text.length && brackets <= JSON_MAX_DEPTH; at += 1) {
    const character = text[at];
    if (character === '{' || character === '[') brackets += 1;
  }
  return brackets > JSON_MAX_DEPTH;
}
