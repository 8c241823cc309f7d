import { isUtf8 } from 'node:buffer';

/** `malformed` is no JSON at all, `duplicate` is JSON in which an object has two members of one name. */
export type UniqueJson =
  | { readonly outcome: 'parsed'; readonly value: unknown }
  | { readonly outcome: 'malformed' | 'duplicate' };

const QUOTATION_MARK = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/**
 * JSON of which every reader makes the same value: strict UTF-8 without a byte order mark, and no two members
 * of one name in any object (RFC 7515 §4, RFC 7519 §4, RFC 8725 §2.6). Lets unpaired surrogates pass.
 */
export function parseUniqueJson(bytes: Buffer): UniqueJson {
  if (!isUtf8(bytes)) return { outcome: 'malformed' };
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { outcome: 'malformed' };
  }
  // `JSON.parse` keeps the last of two members with one name: the value then has fewer members than the text.
  return membersIn(value) === membersWritten(text) ? { outcome: 'parsed', value } : { outcome: 'duplicate' };
}

/** How many members the objects in a value have, however deep. */
function membersIn(value: unknown): number {
  let count = 0;
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (Array.isArray(next)) left.push(...next.filter(isObject));
    else if (isObject(next)) {
      const members = Object.values(next);
      count += members.length;
      left.push(...members.filter(isObject));
    }
  }
  return count;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** How many members are written in text that `JSON.parse` has accepted: as many as colons outside of strings. */
function membersWritten(json: string): number {
  let count = 0;
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charCodeAt(at);
    if (character === COLON) count += 1;
    else if (character === QUOTATION_MARK) at = endOfString(json, at);
  }
  return count;
}

/** The index of the quotation mark that ends the string which begins at `start`. */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  for (let character = json.charCodeAt(at); character !== QUOTATION_MARK; character = json.charCodeAt(at)) {
    at += character === BACKSLASH ? 2 : 1;
  }
  return at;
}
