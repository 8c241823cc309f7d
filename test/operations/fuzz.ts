import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import fc from 'fast-check';
import { header, type Reply } from '../../conformance/src/http.ts';
import type { OpenApi } from '../../conformance/src/open-api.ts';
import { assertProblem } from '../../conformance/src/problem.ts';
import { signer } from '../../conformance/src/sign.ts';
import { responseChecker } from '../openapi/check-response.ts';
import { startService } from '../start.ts';
import { anyRequest, type FuzzRequest } from './fuzz-requests.ts';
import { testAuth } from './list.ts';
import { askBy } from './raw.ts';

export interface FuzzOptions {
  readonly profile: 'shared-list' | 'error-demo';
  readonly runs: number;
  readonly seed: number;
  /** `TODO_DATABASE`, a new SQLite file by default. */
  readonly database?: string;
}

/** How many answers there were of each status. */
export type Counts = ReadonlyMap<number, number>;

/** Must be found in no answer and no line of the log. Only successes may show the title. */
const TITLE = 'canary-title-5b1e';
const PATH = 'canary-path-91c7';

/**
 * Sends `runs` requests, generated from the service's own OpenAPI document, and holds every answer against that
 * document: no 5xx but from `/crash`, every error a problem or its line of text, every success of its schema.
 *
 * @throws {Error} with the smallest request that fails, and the seed.
 */
export async function fuzz({ profile, runs, seed, database }: FuzzOptions): Promise<Counts> {
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
        anyRequest(document, tokens, { title: TITLE, path: PATH }),
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
