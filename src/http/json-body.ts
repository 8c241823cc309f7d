import { orUndefined } from '../lib/errors.ts';
import { faultIn, isJsonObject, type JsonFault, parseJson } from '../lib/parse-json.ts';
import type { Answer, Headers } from './answer.ts';
import type { Call } from './call.ts';
import { jsonTypeFault } from './media-type.ts';
import type { Route } from './route.ts';

/** Deepest nesting of arrays and objects in a request body (contract B5). */
const MAX_DEPTH = 64;

/** The result of a parser for a JSON object: a value of its type, or sentences by member name. */
export type Parsed<T> =
  | { readonly value: T }
  | { readonly errors: Readonly<Record<string, readonly string[]>> };

/** The 415s (contract B2), each with the accepted type (RFC 9110 §15.5.16), or that no coding is accepted. */
export const UNSUPPORTED = {
  missing: unsupported('The request has no Content-Type: send application/json.'),
  type: unsupported('The Content-Type must be application/json or application/<something>+json.'),
  charset: unsupported('The charset of the Content-Type must be UTF-8.'),
  coding: unsupported('The body must not be encoded: send it without Content-Encoding.', {
    'accept-encoding': 'identity',
  }),
};

function unsupported(detail: string, headers: Headers = { accept: 'application/json' }): Answer {
  return { status: 415, headers, detail };
}

/** Skips a leading byte order mark, and throws for what is not UTF-8 (contract B3). */
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** A route whose handler gets the parsed body (contract Order 4): 415, then 413, 431, then 400. */
export function withBody<Value>(
  route: Pick<Route, 'method' | 'path' | 'access'>,
  parse: (body: object) => Parsed<Value>,
  handle: (call: Call, value: Value) => Answer | Promise<Answer>,
): Route {
  async function readAndHandle(call: Call): Promise<Answer> {
    const bytes = (await call.body?.bytes()) ?? Buffer.alloc(0);
    if (typeof bytes === 'number') return { status: bytes };
    const text = orUndefined(() => UTF_8.decode(bytes));
    if (text === undefined) return { status: 400, detail: 'The body is not valid UTF-8.' };
    const read = readJsonObject(text);
    if ('fault' in read) {
      const { line, column, problem } = read.fault;
      const detail = `The body is not acceptable JSON. Line ${line}, column ${column}: ${problem}`;
      return { status: 400, detail };
    }
    const parsed = parse(read.object);
    if ('value' in parsed) return handle(call, parsed.value);
    return { status: 400, title: 'One or more validation errors occurred.', errors: parsed.errors };
  }
  return {
    ...route,
    readsBody: true,
    handle(call) {
      const { 'content-type': type, 'content-encoding': coding } = call.headers;
      const fault = jsonTypeFault(type) ?? (isEncoded(coding) ? 'coding' : undefined);
      return fault === undefined ? readAndHandle(call) : UNSUPPORTED[fault];
    },
  };
}

/** Whether a coding other than `identity`, which is none, encodes the body (RFC 9110 §8.4, §12.5.3). */
function isEncoded(coding: string | undefined): boolean {
  return coding !== undefined && coding.toLowerCase() !== 'identity';
}

/** The object that a body must be (contract B4), or the fault of the text and its place. */
export function readJsonObject(text: string): { readonly object: object } | { readonly fault: JsonFault } {
  const parsed = parseJson(text, { maxDepth: MAX_DEPTH });
  if ('fault' in parsed) return parsed;
  const { value } = parsed;
  if (isJsonObject(value)) return { object: value };
  return { fault: faultIn(text, text.search(/[^ \t\n\r]/), 'An object is expected.') };
}
