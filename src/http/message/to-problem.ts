import type { Tell } from '../../events.ts';
import { admitsProblem } from '../../problem/media-type.ts';
import { PROBLEM_JSON, problemBody, reasonPhrase } from '../../problem/problem.ts';
import type { Answer } from './answer.ts';
import type { Call } from './call.ts';

/** Turns what was thrown into the answer. */
export type Fail = (error: unknown, call: Call) => Answer;

/**
 * An unhandled exception is a 500. The log has it once, with the `traceId`; the answer never has any part of it, in
 * any environment (specification, Errors, rule 3).
 */
export function crash(tell: Tell): Fail {
  return (err, { method, found, traceId }) => {
    const route = found?.path;
    tell({ event: 'crash', traceId, method, route, err });
    return {
      status: 500,
      headers: { 'cache-control': 'no-cache,no-store', pragma: 'no-cache', expires: '-1' },
    };
  };
}

/**
 * An empty 4xx or 5xx gets its problem or its line of text, as `Accept` admits (contract N1 to N3). A body, a content
 * type or a content length that is there already is never rewritten (specification, Errors, rule 2).
 */
export function toProblem(answer: Answer, call: Call): Answer {
  const { status, body } = answer;
  if (status < 400 || status > 599) return answer;
  const headers: Record<string, string> = { ...answer.headers };
  headers.vary ??= 'Accept';
  headers['cache-control'] ??= 'no-store';
  if (body !== undefined || 'content-type' in headers || 'content-length' in headers) {
    return { ...answer, headers };
  }
  if (admitsProblem(call.headers.accept)) {
    headers['content-type'] = PROBLEM_JSON;
    return { status, headers, body: problemBody(answer, call.traceId) };
  }
  if (status === 500) {
    headers['content-length'] = '0';
    return { status, headers };
  }
  headers['content-type'] = 'text/plain';
  const phrase = reasonPhrase(status);
  return { status, headers, body: `Status Code: ${status}${phrase === undefined ? '' : `; ${phrase}`}` };
}
