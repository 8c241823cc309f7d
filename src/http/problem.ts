import { type Answer, reasonPhrase } from './answer.ts';
import type { Call } from './call.ts';
import { admitsProblem } from './media-type.ts';

/** The members of an answer that its problem is made of. */
export type Problem = Omit<Answer, 'headers' | 'body'>;

/** The media type, exactly and without charset (contract P1). */
export const PROBLEM_JSON = 'application/problem+json';

/**
 * An empty 4xx or 5xx gets its problem or its line of text, as `Accept` admits (contract N1 to N3). A body, a content
 * type or a content length that is there already is never rewritten (contract Errors 2).
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

/** A Problem Details body, members in the order of contract P2. */
export function problemBody(problem: Problem, traceId: string): string {
  const { status, title = titleOf(status), detail, errors } = problem;
  return JSON.stringify({ type: typeOf(status), title, status, detail, errors, traceId });
}

/** The status codes of RFC 9110 sections 15.5.1 and 15.6.1 and those behind them, one each; section 15.5.19 has none. */
const CLIENT_ERRORS = [...Array.from({ length: 18 }, (_, index) => 400 + index), Number.NaN, 421, 422, 426];
const SERVER_ERRORS = [500, 501, 502, 503, 504, 505];

/** `type` of a status code (contract P3), or undefined for one that RFC 9110 does not define. */
function typeOf(status: number): string | undefined {
  const [chapter, codes] = status < 500 ? ['15.5', CLIENT_ERRORS] : ['15.6', SERVER_ERRORS];
  const section = codes.indexOf(status) + 1;
  return section === 0 ? undefined : `https://tools.ietf.org/html/rfc9110#section-${chapter}.${section}`;
}

/** `title` where the endpoint gives none: the reason phrase, or the specification's sentence for 500 (contract P4). */
function titleOf(status: number): string | undefined {
  return status === 500 ? 'An error occurred while processing your request.' : reasonPhrase(status);
}
