import type { IncomingHttpHeaders } from 'node:http';
import { faultIn, type JsonFault, parseJson } from '../../parse-json.ts';
import { isJson } from '../../problem/media-type.ts';
import type { Problem } from '../../problem/problem.ts';
import { andThen } from '../../promises.ts';
import type { IncomingBody } from './body.ts';

/** What a parser makes of a JSON object: a value of its type, or sentences by member name. */
export type Parsed<T> =
  | { readonly value: T }
  | { readonly errors: Readonly<Record<string, readonly string[]>> };

/** Deepest nesting of arrays and objects in a request body (contract B5). */
const MAX_DEPTH = 64;

/** What came of reading a body. */
type ReadBody<T> = { readonly value: T } | { readonly problem: Problem };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the body of an endpoint that parses it (contract, Order of checks 4). Media type → 415, size → 413, not a
 * JSON object → 400, a broken rule → 400 with `errors`.
 */
export function readJson<T>(
  headers: IncomingHttpHeaders,
  body: IncomingBody | undefined,
  parse: (body: object) => Parsed<T>,
): ReadBody<T> | Promise<ReadBody<T>> {
  if (!acceptsContent(headers)) return { problem: { status: 415 } };
  return andThen(body?.bytes() ?? Buffer.alloc(0), (bytes) => {
    if (typeof bytes === 'number') return { problem: { status: bytes } };
    const text = decode(bytes);
    if (text === undefined) return malformed('The body is not valid UTF-8.');
    const read = readJsonObject(text);
    if ('fault' in read) {
      const { line, column, problem } = read.fault;
      return malformed(`The body is not acceptable JSON. Line ${line}, column ${column}: ${problem}`);
    }
    const parsed = parse(read.object);
    if ('value' in parsed) return parsed;
    const title = 'One or more validation errors occurred.';
    return { problem: { status: 400, title, errors: parsed.errors } };
  });
}

/** The object that a body must be (contract B4), or why and where the text is none. */
export function readJsonObject(text: string): { readonly object: object } | { readonly fault: JsonFault } {
  const parsed = parseJson(text, { maxDepth: MAX_DEPTH });
  if ('fault' in parsed) return parsed;
  const { value } = parsed;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { object: value };
  return { fault: faultIn(text, text.search(/[^ \t\n\r]/), 'An object is expected.') };
}

/** JSON and not compressed (contract B2; RFC 9110 §8.4). */
function acceptsContent(headers: IncomingHttpHeaders): boolean {
  return isJson(headers['content-type']) && headers['content-encoding'] === undefined;
}

/** The text of a body, a leading byte order mark skipped; undefined when it is not UTF-8 (contract B3). */
function decode(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function malformed(detail: string): { readonly problem: Problem } {
  return { problem: { status: 400, detail } };
}
