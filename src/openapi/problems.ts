import type { Access } from '../auth/admit.ts';
import { CREDENTIALS_MISSING, INSUFFICIENT_SCOPE } from '../auth/challenge.ts';
import { reasonPhrase } from '../problem/catalogue.ts';
import { PROBLEM_JSON, problemBody } from '../problem/problem.ts';
import { HttpValidationProblemDetails, ProblemDetails } from '../problem/schemas.ts';
import type { Header, JsonSchema, KnownProblem } from './operation.ts';

/** A response as OpenAPI's Response Object. */
export interface ProblemResponse {
  readonly description: string;
  readonly headers: Readonly<Record<string, Header | undefined>>;
  readonly content: Readonly<Record<string, object>>;
}

/** What decides which problems a route can have, whatever its endpoint does. */
export interface RouteKind {
  readonly access: Access;
  readonly hasId: boolean;
  readonly readsBody: boolean;
}

const TRACE_ID = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** The problems that every route of this kind can have, by status. */
export function problemsOfKind({ access, hasId, readsBody }: RouteKind): readonly KnownProblem[] {
  return [
    ...(readsBody ? BODY_PROBLEMS : []),
    ...(access === 'open' ? [] : CALLER_PROBLEMS),
    ...(access === 'CanWriteTodos' ? [ROLE_MISSING] : []),
    ...(hasId ? [NOT_FOUND] : []),
    TOO_LARGE,
    CRASH,
  ];
}

const BODY_PROBLEMS: readonly KnownProblem[] = [
  {
    when: 'The body is not a JSON object in UTF-8: `detail` says where and why.',
    status: 400,
    detail: 'The body is not acceptable JSON. Line 1, column 2: A member name in double quotes is expected.',
  },
  {
    when: 'The `Content-Type` is missing, or neither `application/json` nor `application/<something>+json`.',
    status: 415,
  },
];

const CALLER_PROBLEMS: readonly KnownProblem[] = [
  { when: 'There is no token, or it is not valid: `WWW-Authenticate` says why.', status: 401 },
  {
    when:
      'The keys of the issuer or the database cannot be had now. Nothing was changed; the request may be repeated ' +
      'after the seconds of `Retry-After`.',
    status: 503,
    retryAfter: true,
  },
];

const ROLE_MISSING: KnownProblem = {
  when: 'The caller lacks the role `editor`. Another token with the same roles does not help.',
  status: 403,
};

const NOT_FOUND: KnownProblem = {
  when: 'No todo has this id, or the segment is not an integer in the 32-bit range.',
  status: 404,
};

const TOO_LARGE: KnownProblem = {
  when: 'The body is larger than 64 KiB, even where no body is read.',
  status: 413,
};

const CRASH: KnownProblem = {
  when:
    'An unhandled exception. The log has it under the `traceId`. A request whose `Accept` does not admit ' +
    'Problem Details gets no body.',
  status: 500,
};

/** The response for problems of one status, with an example of each as the service would write it. */
export function problemResponse(status: number, problems: readonly KnownProblem[]): ProblemResponse {
  const examples = problems.map((problem, index) => {
    const value = JSON.parse(problemBody(problem, TRACE_ID));
    return [`problem-${index + 1}`, { summary: problem.when.replaceAll('`', ''), value }] as const;
  });
  const media = { schema: schemaOf(problems), examples: Object.fromEntries(examples) };
  const sentences = problems.map(({ when }) => when);
  return {
    description: sentences.length === 1 ? sentences.join() : sentences.map((when) => `- ${when}`).join('\n'),
    headers: {
      'WWW-Authenticate': CHALLENGES[status],
      'Retry-After': problems.some(({ retryAfter }) => retryAfter) ? RETRY_AFTER : undefined,
      Vary: VARY,
      ...(status === 500 ? NOT_CACHED_AFTER_CRASH : NOT_STORED),
    },
    content: { [PROBLEM_JSON]: media, ...(status === 500 ? {} : { 'text/plain': statusLine(status) }) },
  };
}

function schemaOf(problems: readonly KnownProblem[]): JsonSchema {
  const [schema = ProblemDetails, ...others] = new Set(
    problems.map(({ errors }) => (errors === undefined ? ProblemDetails : HttpValidationProblemDetails)),
  );
  return others.length === 0 ? schema : { anyOf: [schema, ...others] };
}

/** For an `Accept` that does not admit Problem Details (contract N2). */
function statusLine(status: number): object {
  return { schema: { type: 'string', const: `Status Code: ${status}; ${reasonPhrase(status)}` } };
}

const CHALLENGES: Readonly<Record<number, Header>> = {
  401: challenge(CREDENTIALS_MISSING),
  403: challenge(INSUFFICIENT_SCOPE),
};

/** Where browser applications are let in, `Origin` is named too. */
const VARY: Header = {
  description: 'The body depends on `Accept`.',
  required: true,
  schema: { type: 'string', pattern: '^Accept(, Origin)?$' },
  example: 'Accept',
};

const RETRY_AFTER: Header = {
  description: 'Seconds until the request may be repeated.',
  schema: { type: 'string', pattern: '^[0-9]+$' },
  example: '1',
};

const NOT_STORED = { 'Cache-Control': always('no-store', 'Errors are not stored.') };

const NOT_CACHED_AFTER_CRASH = {
  'Cache-Control': always('no-cache,no-store', 'Errors are not stored.'),
  Pragma: always('no-cache', 'For caches of HTTP/1.0.'),
  Expires: always('-1', 'For caches of HTTP/1.0.'),
};

function always(value: string, description: string): Header {
  return { description, required: true, schema: { type: 'string', const: value } };
}

function challenge(example: string): Header {
  return {
    description: 'RFC 6750 §3.',
    required: true,
    schema: { type: 'string', pattern: '^Bearer realm="todo-service"' },
    example,
  };
}
