import { isUtf8 } from 'node:buffer';
import { parseJson } from '../../parse-json.ts';

const QUOTATION_MARK = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/**
 * The value of JSON of which every reader makes the same: strict UTF-8 without a byte order mark, and no two members
 * of one name in any object (RFC 7515 §4, RFC 7519 §4, RFC 8725 §2.6). Undefined for any other bytes. Lets unpaired
 * surrogates pass.
 */
export function parseUniqueJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) return undefined;
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  // `JSON.parse` keeps the last of two members with one name: the value then has fewer members than the text.
  return membersIn(value) === membersWritten(text) ? value : undefined;
}

/** How many members the objects in a value have, however deep. */
function membersIn(value: unknown): number {
  let count = 0;
  const left = [value].filter(isObject);
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const values: unknown[] = Array.isArray(next) ? next : Object.values(next);
    if (!Array.isArray(next)) count += values.length;
    left.push(...values.filter(isObject));
  }
  return count;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** How many members are written in text that `JSON.parse` has accepted: as many as colons outside of strings. */
function membersWritten(json: string): number {
  let count = 0;
  let isString = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json.charCodeAt(at);
    if (character === QUOTATION_MARK) isString = !isString;
    else if (character === COLON && !isString) count += 1;
    // Only strings have one, and what it escapes may be a quotation mark.
    else if (character === BACKSLASH) at += 1;
  }
  return count;
}
