import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import fc from 'fast-check';
import { header, type Reply } from '../../packages/conformance/src/http.ts';
import type { OpenApi } from '../../packages/conformance/src/open-api.ts';
import { assertProblem } from '../../packages/conformance/src/problem.ts';
import { signer } from '../../packages/conformance/src/sign.ts';
import { responseChecker } from '../openapi/check-response.ts';
import { codePoint } from '../support/code-point.ts';
import { testAuth } from '../support/list.ts';
import { askBy } from '../support/raw.ts';
import { startService } from '../support/start.ts';
import {
  ACCEPTS,
  BODIES,
  METHODS,
  NO_KEYS,
  refusedCredentials,
  SEGMENTS,
  TAGS,
  TYPES,
} from './hostile-values.ts';

interface FuzzOptions {
  readonly profile: 'shared-list' | 'error-demo';
  readonly runs: number;
  readonly seed: number;
  /** `TODO_DATABASE`, a new SQLite file by default. */
  readonly database?: string;
}

/** Must be found in no answer and no line of the log. Only successes may show the title. */
const TITLE = 'canary-title-5b1e';
const PATH = 'canary-path-91c7';

/**
 * Sends `runs` requests, generated from the service's own OpenAPI document, and holds every answer against that
 * document: no 5xx but from `/crash`, every error a problem or its line of text, every success of its schema.
 *
 * @returns how many answers there were of each status.
 * @throws {Error} with the smallest request that fails, and the seed.
 */
export async function fuzz({
  profile,
  runs,
  seed,
  database,
}: FuzzOptions): Promise<ReadonlyMap<number, number>> {
  const auth = testAuth();
  const sign = signer(auth);
  const tokens = {
    editor: sign({ name: 'ada', role: 'editor' }),
    reader: sign({ name: 'bob' }),
    expired: sign({ exp: 1 }),
    forged: signer(testAuth())({ role: 'editor' }),
  };
  const env = database === undefined ? {} : { TODO_DATABASE: database };
  await using service = await startService({ profile, environment: 'development', auth, env });
  const document = (await (await fetch(`${service.baseUrl}/openapi/v1.json`)).json()) as OpenApi;
  const check = checker(document);
  const secrets = [
    PATH,
    auth.secret.toString('base64'),
    ...Object.values(tokens).map((token) => token.slice(-43)),
  ];
  const password = database === undefined ? '' : (URL.parse(database)?.password ?? '');
  if (password !== '') secrets.push(`:${password}@`);
  const { hostname, port } = new URL(service.baseUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const counts = new Map<number, number>();
  try {
    await fc.assert(
      fc.asyncProperty(
        anyRequest(document, tokens),
        async ({ method, target: path, headers, body, operation }) => {
          const reply = await askBy(agent, { hostname, port, method, path, headers }, body);
          counts.set(reply.status, (counts.get(reply.status) ?? 0) + 1);
          check({ method, operation }, reply);
          const seen = `${reply.headers}${reply.body}`;
          for (const secret of secrets) assert.ok(!seen.includes(secret), `an answer shows ${secret}`);
          assert.ok(reply.status < 400 || !seen.includes(TITLE), 'an error shows a title');
        },
      ),
      { numRuns: runs, seed },
    );
  } finally {
    agent.destroy();
  }
  await service.stop();
  const log = service.stdout() + service.stderr();
  for (const secret of [...secrets, TITLE]) assert.ok(!log.includes(secret), `the log shows ${secret}`);
  return counts;
}

/** Holds answers against the document, and those that belong to no operation against the contract. */
function checker(
  document: OpenApi,
): (request: Pick<FuzzRequest, 'method' | 'operation'>, reply: Reply) => void {
  const check = responseChecker(document);
  return ({ method, operation }, reply) => {
    const { status, body } = reply;
    assert.ok(status < 500 || operation?.path === '/crash', `a ${status}`);
    if (method === 'HEAD') assert.equal(body.length, 0);
    if (operation !== undefined && status !== 405) return check(method, operation.path, reply);
    assert.ok([400, 404, 405, 413].includes(status), `a ${status} outside of every operation`);
    if (method === 'HEAD') return;
    if (header(reply, 'content-type') === 'text/plain')
      assert.match(body.toString(), new RegExp(`^Status Code: ${status}; [A-Z]`));
    else assertProblem(reply, status, { detail: 'optional' });
  };
}

/** What of an operation of the document is looked at. */
interface Operation {
  readonly path: string;
  /** In capitals. */
  readonly method: string;
}

/** Which operation of the document is meant; undefined when none is. */
interface Aim {
  readonly method: string;
  readonly target: string;
  readonly operation: Operation | undefined;
}

interface FuzzRequest extends Aim {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

/** Of no operation, and known to `node:http`. */
const OTHER_METHODS = METHODS.filter((method) => /^(?:PATCH|OPTIONS|TRACE|PROPFIND|PURGE)$/.test(method));

const ids = fc.oneof(
  fc.integer({ min: 1, max: 40 }).map(String),
  // Those that are one segment, and make no query of what follows. Bytes beyond ASCII make no request.
  fc.constantFrom(...SEGMENTS.filter((segment) => /^[!-~]+$/.test(segment) && !/[/?#]/.test(segment))),
  fc
    .string()
    .map(encodeURIComponent)
    .filter((text) => text !== ''),
);

const accepts = fc.constantFrom(undefined, ...ACCEPTS);

const types = fc.oneof(
  { weight: 6, arbitrary: fc.constant('application/json') },
  { weight: 2, arbitrary: fc.constantFrom(undefined, ...TYPES) },
);

/** Most requests have none: a create that has one makes nothing. */
const tags = seldom(fc.constant(undefined), fc.constantFrom(...TAGS));

/** The odd is one of so many: most requests come further than to a refusal of this kind. */
export function seldom<T, Odd = T>(
  usual: fc.Arbitrary<T>,
  odd: fc.Arbitrary<Odd>,
  usually = 9,
): fc.Arbitrary<T | Odd> {
  return fc.oneof({ weight: usually, arbitrary: usual }, { weight: 1, arbitrary: odd });
}

/** Titles of every kind that the rules know, and any string. */
const titles = (canary: string) =>
  fc.oneof(
    fc.constant(canary),
    fc.string({ maxLength: 120, unit: codePoint }),
    fc.constantFrom(
      '',
      ' ',
      '\u2003',
      'a'.repeat(100),
      '😀'.repeat(100),
      'a'.repeat(101),
      '\u0000',
      '\ud800',
    ),
    fc.anything(),
  );

const numbers = fc.oneof(
  fc.constantFrom(1, 2),
  fc.constantFrom(0, -1, 3, 1.5, 2147483647, 2147483648, '1', null),
  fc.anything(),
);

/** A few that come again, with other bodies too, and some that are none. */
const keys = fc.oneof(
  { weight: 4, arbitrary: fc.constant(undefined) },
  { weight: 3, arbitrary: fc.constantFrom('a', '"a"', 'b') },
  { weight: 1, arbitrary: fc.constantFrom(...NO_KEYS) },
);

/** Bodies near what the schemas want, with members too many, and bytes that are no JSON. */
export function bodies(canary: string): fc.Arbitrary<Buffer> {
  const near = fc
    .record(
      {
        title: titles(canary),
        categoryId: numbers,
        done: fc.oneof(fc.boolean(), fc.anything()),
        role: fc.string(),
      },
      { requiredKeys: [] },
    )
    .map((value) => text(value));
  const valid = fc
    .record({ title: fc.constant(canary), categoryId: fc.constantFrom(1, 2), done: fc.boolean() })
    .map((value) => text(value));
  return fc.oneof(
    { weight: 3, arbitrary: valid },
    { weight: 6, arbitrary: near },
    { weight: 2, arbitrary: fc.json().map((json) => Buffer.from(json)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: fc.constant(Buffer.alloc(70_000, ' ')) },
    { weight: 1, arbitrary: fc.constantFrom(...BODIES).map((body) => Buffer.from(body, 'latin1')) },
  );
}

/** JSON of anything, for values that JSON does not have as well. */
function text(value: unknown): Buffer {
  const plain = (_: string, member: unknown) => (typeof member === 'bigint' ? String(member) : member);
  try {
    return Buffer.from(JSON.stringify(value, plain) ?? 'null');
  } catch {
    return Buffer.from('[');
  }
}

/** Requests for the document's operations, most of them nearly right, and some for nothing that exists. */
function anyRequest(
  { paths }: OpenApi,
  tokens: Readonly<Record<'editor' | 'reader' | 'expired' | 'forged', string>>,
): fc.Arbitrary<FuzzRequest> {
  const operations = Object.entries(paths).flatMap(([path, members]) =>
    Object.keys(members)
      .filter((member) => member !== 'parameters')
      .map((method) => ({ path, method: method.toUpperCase() })),
  );
  const credentials = fc.oneof(
    { weight: 8, arbitrary: fc.constant(`Bearer ${tokens.editor}`) },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        undefined,
        `bearer ${tokens.reader}`,
        `Bearer ${tokens.expired}`,
        `Bearer ${tokens.forged}`,
        ...refusedCredentials(tokens.editor),
      ),
    },
  );
  const meant = fc
    .record({
      operation: fc.constantFrom(...operations),
      id: ids,
      asHead: fc.boolean(),
      wrongMethod: seldom(fc.constant(undefined), fc.constantFrom(...OTHER_METHODS), 19),
      query: fc.constantFrom('', '', '?', `?${PATH}=1`),
    })
    .map(({ operation, id, asHead, wrongMethod, query }): Aim => {
      const method = wrongMethod ?? (operation.method === 'GET' && asHead ? 'HEAD' : operation.method);
      const path = operation.path.replace('{id}', id);
      // Escapes that are refused before routing belong to no operation.
      const refused =
        /%(?:00|0A|0D|F[0-9A-F]|(?![0-9A-F]{2}))/i.test(path) ||
        operation.path.split('/').length !== path.split('/').length;
      return {
        method,
        target: path + query,
        operation: refused || wrongMethod !== undefined ? undefined : operation,
      };
    });
  const unknown = fc
    .tuple(
      fc.constantFrom('GET', 'POST', ...OTHER_METHODS),
      fc.constantFrom('', '/', '//todos', '/todos/1/x'),
    )
    .map(([method, path]): Aim => ({ method, target: `/${PATH}${path}`, operation: undefined }));
  const aims = seldom(meant, unknown, 19);
  const rest = {
    authorization: credentials,
    accept: accepts,
    type: types,
    body: fc.option(bodies(TITLE), { freq: 8 }),
    ifMatch: tags,
    ifNoneMatch: tags,
    encoding: seldom(fc.constant(undefined), fc.constantFrom('gzip', 'identity'), 19),
    key: keys,
  };
  return fc.record({ aim: aims, ...rest }).map(({ aim, body, ...headers }) => {
    const sent = body !== null && aim.operation?.method !== 'GET' ? body : undefined;
    return {
      ...aim,
      headers: present({
        Authorization: headers.authorization,
        Accept: headers.accept,
        'Content-Type': headers.type,
        'If-Match': headers.ifMatch,
        'If-None-Match': headers.ifNoneMatch,
        'Content-Encoding': headers.encoding,
        'Idempotency-Key': headers.key,
        'Content-Length': sent && String(sent.length),
      }),
      body: sent,
    };
  });
}

function present(headers: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return JSON.parse(JSON.stringify(headers));
}
