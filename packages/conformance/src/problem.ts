import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { header, json, type Reply } from './http.ts';

/**
 * The law for services: the specification alone, or the contract too, which settles the questions that the specification
 * leaves open.
 */
export type Law = 'specification' | 'contract';

let law: Law = 'contract';

/** `test` for a check of clauses of the contract alone: nothing while a service is held to the specification alone. */
export let it: (name: string, run: (t: TestContext) => void | Promise<void>) => unknown = test;

/** Checks every reply from now on by this law. */
export function holdTo(chosen: Law): void {
  law = chosen;
  it = chosen === 'contract' ? test : () => {};
}

/** Whether replies are checked by the contract, and not by the specification alone. */
export function holdsToContract(): boolean {
  return law === 'contract';
}

/** The contract's value, or the specification's while only that is the law. */
export function byLaw<T>(contract: T, specification: T): T {
  return holdsToContract() ? contract : specification;
}

/** The media type of the body, which is all that matters to a client, also by the specification. */
export function mediaType(reply: Reply): string | undefined {
  return header(reply, 'content-type')?.split(';')[0]?.trim().toLowerCase();
}

/**
 * Checks the status and the JSON of a success; by the contract also the order of its members and its exact type (contract
 * D4).
 */
export function assertBody(reply: Reply, status: number, expected: unknown): void {
  assertJson(reply, status);
  assert.deepEqual(json(reply), expected);
  if (law === 'contract') assert.equal(reply.body.toString(), JSON.stringify(expected));
}

/** Checks the status and the type of a success with a body. */
export function assertJson(reply: Reply, status: number): void {
  assert.equal(reply.status, status, reply.body.toString());
  if (law === 'contract') assert.equal(header(reply, 'content-type'), 'application/json; charset=utf-8');
  else assert.equal(mediaType(reply), 'application/json');
}

/** Status → title when an endpoint gives no other, and section of RFC 9110. No section: no `type` (contract P3). */
const catalogue: Readonly<Record<number, readonly [title: string, section?: string]>> = {
  400: ['Bad Request', '15.5.1'],
  401: ['Unauthorized', '15.5.2'],
  403: ['Forbidden', '15.5.4'],
  404: ['Not Found', '15.5.5'],
  405: ['Method Not Allowed', '15.5.6'],
  408: ['Request Timeout', '15.5.9'],
  409: ['Conflict', '15.5.10'],
  412: ['Precondition Failed', '15.5.13'],
  413: ['Content Too Large', '15.5.14'],
  415: ['Unsupported Media Type', '15.5.16'],
  417: ['Expectation Failed', '15.5.18'],
  422: ['Unprocessable Content', '15.5.21'],
  431: ['Request Header Fields Too Large'],
  500: ['An error occurred while processing your request.', '15.6.1'],
  503: ['Service Unavailable', '15.6.4'],
};

/** The reason phrase of RFC 9110, as it stands in the line of text (contract Errors 4). */
export function phraseOf(status: number): string | undefined {
  return catalogue[status]?.[0];
}

const validation = 'One or more validation errors occurred.';

/** The trace ids of every problem that any test has seen: no two requests share one. */
const seenTraceIds = new Set<string>();

export interface Expected {
  /** The title, when the endpoint gives its own. */
  readonly title?: string;
  /** `any` when only its presence is promised, `optional` when not even that. Without it, the member must be absent. */
  readonly detail?: string | RegExp | 'any' | 'optional';
  /** Exactly these members failed. Without it, the member must be absent. */
  readonly errors?: readonly string[];
  /** Further headers, exactly; undefined for a header that must be absent. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

interface Problem {
  readonly type?: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
  readonly traceId: string;
}

/**
 * Checks the whole shape of an error: status, type, members, their order, a `traceId` never seen before. Call it once for
 * each reply. The headers that every error has are checked once, in "Every response".
 */
export function assertProblem(reply: Reply, status: number, expected: Expected = {}): Problem {
  const text = reply.body.toString();
  assert.equal(reply.status, status, text);
  const [phrase, section] = catalogue[status] ?? assert.fail(`${status} is not in the catalogue`);
  if (law === 'specification') return assertSpecified(reply, status, expected, section);
  assert.equal(header(reply, 'content-type'), 'application/problem+json', text);
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    assert.equal(header(reply, name), value, `${name}: ${text}`);
  }

  const problem = json(reply) as Problem;
  const { detail, errors, traceId, ...rest } = problem;
  assert.deepEqual(rest, {
    ...(section === undefined ? {} : { type: `https://tools.ietf.org/html/rfc9110#section-${section}` }),
    title: expected.title ?? (expected.errors === undefined ? phrase : validation),
    status,
  });
  assertDetail(detail, expected.detail);
  assertErrors(errors, expected.errors);
  assertTraceId(traceId);
  const order = ['type', 'title', 'status', 'detail', 'errors', 'traceId'];
  assert.deepEqual(
    Object.keys(problem),
    order.filter((member) => member in problem),
    'order of members',
  );
  return problem;
}

const CATEGORY_NOT_FOUND = 'Category not found';

/** Titles that the specification gives; the implementation chooses the title of any other status. */
const specifiedTitles: Readonly<Record<number, string>> = {
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Todo is already completed',
  500: 'An error occurred while processing your request.',
};

/** A problem as the specification alone describes it: members that it does not mention are free. */
function assertSpecified(
  reply: Reply,
  status: number,
  { title, detail, errors }: Expected,
  section: string | undefined,
): Problem {
  assert.equal(mediaType(reply), 'application/problem+json', reply.body.toString());
  const problem = json(reply) as Problem;
  assert.equal(problem.status, status, 'status of the body');
  assert.ok(problem.type?.endsWith(`#section-${section}`), `type: ${problem.type}, section ${section}`);
  const specifiedTitle = title === CATEGORY_NOT_FOUND ? title : specifiedTitles[status];
  if (specifiedTitle !== undefined) assert.equal(problem.title, specifiedTitle);
  else assert.match(problem.title, /\S/, 'title');
  if (detail instanceof RegExp) assert.match(problem.detail ?? '', detail);
  if (title === CATEGORY_NOT_FOUND) assert.equal(problem.detail, undefined, 'detail');
  if (errors !== undefined) assert.ok(problem.errors, 'errors');
  assert.equal(typeof problem.traceId, 'string', 'traceId');
  assertNewTraceId(problem.traceId);
  return problem;
}

/** The answer to a client that does not admit a problem (contract Errors 4; N2; N4). */
export function assertTextLine(reply: Reply, status: number, line: string): void {
  assert.equal(reply.status, status, reply.body.toString());
  if (law === 'contract') assert.equal(header(reply, 'content-type'), 'text/plain');
  else assert.equal(mediaType(reply), 'text/plain');
  assert.equal(reply.body.toString(), line);
}

/** Checks the headers of every 4xx and 5xx, whatever its body, and of a 500 (contract P7; D8; Errors, 500). */
export function assertErrorHeaders(reply: Reply): void {
  const { status } = reply;
  if (law === 'specification') {
    if (status === 500) assert.equal(withoutSpaces(header(reply, 'cache-control')), 'no-cache,no-store');
    return;
  }
  assert.equal(header(reply, 'vary'), 'Accept');
  assert.equal(header(reply, 'x-content-type-options'), 'nosniff');
  assert.equal(header(reply, 'cache-control'), status === 500 ? 'no-cache,no-store' : 'no-store');
  assert.equal(header(reply, 'pragma'), status === 500 ? 'no-cache' : undefined);
  assert.equal(header(reply, 'expires'), status === 500 ? '-1' : undefined);
  assert.equal(header(reply, 'etag'), undefined);
}

function withoutSpaces(value: string | undefined): string | undefined {
  return value?.replaceAll(/\s/g, '');
}

function assertDetail(detail: string | undefined, expected: Expected['detail']): void {
  if (expected instanceof RegExp) assert.match(detail ?? '', expected);
  else if (expected === 'any') assert.match(detail ?? '', /\S/, 'detail');
  else if (expected !== 'optional') assert.equal(detail, expected);
}

function assertErrors(errors: Problem['errors'], expected: Expected['errors']): void {
  assert.deepEqual(
    errors && Object.keys(errors).sort(),
    expected && [...expected].sort(),
    'members of errors',
  );
  for (const [member, sentences] of Object.entries(errors ?? {})) {
    assert.ok(Array.isArray(sentences) && sentences.length > 0, `errors.${member} is a list`);
    for (const sentence of sentences)
      assert.match(sentence, /^\S.*\s.*[.]$/, `errors.${member} is a sentence`);
  }
}

function assertTraceId(traceId: string): void {
  assert.match(traceId, /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[01]$/);
  assertNewTraceId(traceId);
}

function assertNewTraceId(traceId: string): void {
  assert.ok(!seenTraceIds.has(traceId), `traceId ${traceId} was given to another request`);
  seenTraceIds.add(traceId);
}
