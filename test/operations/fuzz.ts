import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { signer } from '../../conformance/src/sign.ts';
import { type Running, startService } from '../start.ts';
import { anyRequest, type FuzzRequest, type Operation } from './fuzz-requests.ts';
import { testAuth } from './list.ts';

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

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation['description']>>>>;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

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
  const document = (await (await fetch(`${service.baseUrl}/openapi/v1.json`)).json()) as Document;
  const check = checker(document);
  const secrets = [
    PATH,
    auth.secret.toString('base64'),
    ...Object.values(tokens).map((token) => token.slice(-43)),
  ];
  const password = database === undefined ? '' : (URL.parse(database)?.password ?? '');
  if (password !== '') secrets.push(`:${password}@`);
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const counts = new Map<number, number>();
  try {
    await fc.assert(
      fc.asyncProperty(
        anyRequest(operationsOf(document), tokens, { title: TITLE, path: PATH }),
        async (request) => {
          const answer = await send(service, request, agent);
          counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
          check(request, answer);
          const seen = JSON.stringify(answer.headers) + answer.body;
          for (const secret of secrets) assert.ok(!seen.includes(secret), `an answer shows ${secret}`);
          assert.ok(answer.status < 400 || !seen.includes(TITLE), 'an error shows a title');
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

function operationsOf({ paths }: Document): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== 'parameters')
      .map(([method, description]) => ({ path, method: method.toUpperCase(), description })),
  );
}

async function send({ baseUrl }: Running, request: FuzzRequest, agent: Agent): Promise<Answer> {
  const { hostname, port } = new URL(baseUrl);
  const { method, target, headers, body } = request;
  const sent = httpRequest({ hostname, port, method, path: target, headers, agent });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(response, 'end');
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(chunks).toString(),
  };
}

/** Holds answers against the document, and those that belong to no operation against its problem. */
function checker(document: Document): (request: FuzzRequest, answer: Answer) => void {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ ...document, $id: 'document' });
  const compiled = new Map<string, ValidateFunction>();
  const validatorAt = (pointer: string): ValidateFunction => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` });
    compiled.set(pointer, known);
    return known;
  };

  return ({ method, operation }, { status, headers, body }) => {
    assert.ok(status < 500 || operation?.path === '/crash', `a ${status}`);
    const type = String(headers['content-type'] ?? '').split(';')[0];
    if (status >= 400 && type === 'application/problem+json' && method !== 'HEAD') {
      assert.equal(JSON.parse(body).status, status);
    }
    if (operation === undefined || status === 405) {
      assert.ok([400, 404, 405, 413].includes(status), `a ${status} outside of every operation`);
      if (method === 'HEAD') return;
      if (type === 'text/plain') assert.match(body, new RegExp(`^Status Code: ${status}; [A-Z]`));
      else assertValid(validatorAt('/components/schemas/ProblemDetails'), JSON.parse(body));
      return;
    }
    const responses = operation.description.responses;
    const response = responses[String(status)];
    assert.ok(response, `a ${status} that is not documented`);
    // A 500 that cannot be negotiated has no body (contract N3).
    if (status === 500 && type === '') {
      assert.equal(body, '');
      return;
    }
    if (method === 'HEAD' || response.content === undefined) {
      const bare = response.$ref === undefined || method === 'HEAD';
      if (bare) assert.equal(body, '');
      else assertValid(validatorAt(contentOf(response.$ref, type)), parsed(type, body));
      return;
    }
    assert.ok(response.content[type ?? ''], `${type} is not documented for ${status}`);
    const at = `/paths/${pointerSegment(operation.path)}/${operation.method.toLowerCase()}/responses/${status}`;
    assertValid(validatorAt(contentOf(at, type)), parsed(type, body));
  };
}

function contentOf(response: string, type: string | undefined): string {
  return `${response.replace(/^#/, '')}/content/${pointerSegment(type ?? '')}/schema`;
}

/** RFC 6901 §3 within a URI fragment. */
function pointerSegment(segment: string): string {
  return encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'));
}

function parsed(type: string | undefined, body: string): unknown {
  return type === 'text/plain' ? body : JSON.parse(body);
}

function assertValid(validate: ValidateFunction, value: unknown): void {
  assert.ok(validate(value), `${JSON.stringify(value)}: ${JSON.stringify(validate.errors)}`);
}
