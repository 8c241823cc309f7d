import { randomFillSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { STATUS_CODES } from '../node-http.ts';

/** What an endpoint says of an error. Members left out are filled from the status (RFC 9457 §3.1). */
export interface Problem {
  /** 400 to 599. */
  readonly status: number;
  /** Identical for the same kind of error; default: the catalogue's. */
  readonly title?: string;
  /** Specific to this occurrence. Never the message of an exception. */
  readonly detail?: string;
  /** Validation failures: member name → sentences for people (contract B12). */
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

/** The media type, exactly and without charset (contract P1). */
export const PROBLEM_JSON = 'application/problem+json';

/** A Problem Details body, members in the order of contract P2. */
export function problemBody(problem: Problem, traceId: string): string {
  const { status, title = titleOf(status), detail, errors } = problem;
  return JSON.stringify({ type: typeOf(status), title, status, detail, errors, traceId });
}

/** The status codes that sections 15.5.1 and 15.6.1 of RFC 9110 and those behind them define, one each; 15.5.19 none. */
const CLIENT_ERRORS = [...Array.from({ length: 18 }, (_, index) => 400 + index), Number.NaN, 421, 422, 426];
const SERVER_ERRORS = [500, 501, 502, 503, 504, 505];

/** Where Node.js still has the phrase of an RFC that RFC 9110 obsoleted. */
const RENAMED: ReadonlyMap<number, string> = new Map([
  [413, 'Content Too Large'],
  [422, 'Unprocessable Content'],
]);

/** `type` of a status code (contract P3), or undefined for one that RFC 9110 does not define. */
function typeOf(status: number): string | undefined {
  const [chapter, codes] = status < 500 ? ['15.5', CLIENT_ERRORS] : ['15.6', SERVER_ERRORS];
  const section = codes.indexOf(status) + 1;
  return section === 0 ? undefined : `https://tools.ietf.org/html/rfc9110#section-${chapter}.${section}`;
}

/** The reason phrase of a status code, or undefined for an unknown one. */
export function reasonPhrase(status: number): string | undefined {
  return RENAMED.get(status) ?? STATUS_CODES[status];
}

/** `title` where the endpoint gives none: the reason phrase, or the specification's sentence for 500 (P4). */
function titleOf(status: number): string | undefined {
  return status === 500 ? 'An error occurred while processing your request.' : reasonPhrase(status);
}

/** version "-" trace-id "-" parent-id "-" trace-flags, W3C Trace Context §3.2. Later versions may go on after a "-". */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

const ZERO_TRACE = '0'.repeat(32);
const ZERO_SPAN = '0'.repeat(16);

const pool = Buffer.alloc(4096);
let used = pool.length;

/** Random lower-case hex digits of `bytes` bytes, never all zero (W3C Trace Context §3.2.2.3). */
function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const hex = pool.toString('hex', used, used + bytes);
  used += bytes;
  return /[^0]/.test(hex) ? hex : randomHex(bytes);
}

/** The part of a caller's trace that it told. */
export interface Parent {
  readonly traceId: string;
  readonly parentId: string;
  readonly sampled: boolean;
}

/** What a `traceparent` says, or undefined when it is not valid (W3C Trace Context §3.2). */
export function parseTraceparent(traceparent: string | string[] | undefined): Parent | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const match = TRACEPARENT.exec(traceparent);
  const [, version = 'ff', traceId = ZERO_TRACE, parentId = ZERO_SPAN, flags = '00', rest] = match ?? [];
  const valid =
    version !== 'ff' &&
    traceId !== ZERO_TRACE &&
    parentId !== ZERO_SPAN &&
    (version !== '00' || rest === undefined);
  return valid ? { traceId, parentId, sampled: (Number.parseInt(flags, 16) & 1) === 1 } : undefined;
}

/**
 * A new `traceId` (contract P5): in the caller's trace when there is one, with only the sampled flag kept, else in a new
 * one; the span is always new, so that no two requests share a `traceId`.
 */
export function newTraceId(parent: Parent | undefined): string {
  if (parent === undefined) return `00-${randomHex(16)}-${randomHex(8)}-00`;
  return `00-${parent.traceId}-${randomHex(8)}-0${parent.sampled ? 1 : 0}`;
}

const TRACE_ID = Symbol('traceId');
type Traced = IncomingMessage & { [TRACE_ID]?: string };

/**
 * The one `traceId` of a request, in its problem and in its log lines (contract P5). Made when somebody asks: most never
 * do.
 */
export function traceIdOf(request: Traced): string {
  request[TRACE_ID] ??= newTraceId(parseTraceparent(request.headers.traceparent));
  return request[TRACE_ID];
}

/** Before anybody has asked for it. */
export function setTraceId(request: Traced, traceId: string): void {
  request[TRACE_ID] = traceId;
}
