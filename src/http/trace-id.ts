import { randomFillSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

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

/** The part of a caller's trace that its header has. */
export interface Parent {
  readonly traceId: string;
  readonly parentId: string;
  readonly sampled: boolean;
}

/** The caller's trace in a `traceparent`, or undefined when it is not valid (W3C Trace Context §3.2). */
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

/** A new `traceId` (contract P5): the caller's trace and sampled flag, else a new one. The span is always new. */
export function newTraceId(parent: Parent | undefined): string {
  if (parent === undefined) return `00-${randomHex(16)}-${randomHex(8)}-00`;
  return `00-${parent.traceId}-${randomHex(8)}-0${parent.sampled ? 1 : 0}`;
}

const TRACE_ID = Symbol('traceId');
type Traced = IncomingMessage & { [TRACE_ID]?: string };

/** The one `traceId` of a request, in problem and log lines (contract P5). Made at the first use: most need none. */
export function traceIdOf(request: Traced): string {
  request[TRACE_ID] ??= newTraceId(parseTraceparent(request.headers.traceparent));
  return request[TRACE_ID];
}

/** Sets the `traceId`, before its first use. */
export function setTraceId(request: Traced, traceId: string): void {
  request[TRACE_ID] = traceId;
}
