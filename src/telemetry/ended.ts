import type { Call } from '../http/call.ts';

/** A request whose answer is out, or whose client has left. Times are those of `performance.now()`. */
export interface Ended {
  readonly call: Call;
  readonly from: number;
  readonly until: number;
  /** Undefined when the connection ended before the answer did. */
  readonly status: number | undefined;
  /** Whether the client closed the connection, or its side, before the end of the answer. */
  readonly isGivenUp: boolean;
}

/** Methods that OpenTelemetry names. */
const METHODS = new Set('GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH'.split(' '));

/** The method of a request, or `_OTHER`. */
export function knownMethod(method: string): string {
  return METHODS.has(method) ? method : '_OTHER';
}

/** The class of an error, a closed list unlike its message; nothing without one. */
export function errorType(error: unknown): string {
  if (error === undefined) return '';
  return error instanceof Error ? error.name : '_OTHER';
}
