import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { header, json } from '../../packages/conformance/src/http.ts';
import { send } from '../../packages/conformance/src/target.ts';
import { errorDemoRoutes } from '../../src/error-demo.ts';
import { UNSUPPORTED } from '../../src/http/json-body.ts';
import { problemBody } from '../../src/http/problem.ts';
import type { Route } from '../../src/http/route.ts';
import * as errors from '../../src/shared-list/endpoint-errors.ts';
import { sharedListRoutes } from '../../src/shared-list/endpoints.ts';
import { entityTag } from '../../src/shared-list/entity-tags.ts';
import { MAX_ID, MEMBERS, type Member } from '../../src/shared-list/members.ts';
import {
  parseCreateTodo,
  parseEntityTags,
  parseIdempotencyKey,
  parseReplaceTodo,
} from '../../src/shared-list/requests.ts';
import { auth, errorDemoOf, sharedListOf } from '../specification/target-of.ts';
import { openSqliteStore } from '../storage/sqlite-store.ts';
import { cases } from '../support/cases.ts';
import { codePoint } from '../support/code-point.ts';
import { temporaryFolder } from '../support/folder.ts';
import { quoted } from '../support/quoted.ts';
import { runCommand } from '../support/run-command.ts';
import { startService } from '../support/start.ts';
import { responseChecker, schemaChecker } from './check-response.ts';
import {
  exampleOf,
  type OpenApiDocument,
  operationsOf,
  type Parameter,
  parseDocument,
  type Response,
} from './read-document.ts';

const parts = new AsyncDisposableStack();
after(() => parts.disposeAsync());

const folder = parts.use(await temporaryFolder());
const store = parts.use(await openSqliteStore(`${folder.path}/todos.db`));

/** What the document of each profile has. */
const PROFILES = {
  'shared-list': {
    target: sharedListOf(
      parts.use(
        await startService({
          environment: 'development',
          auth,
          env: { TODO_CORS_ORIGINS: 'https://app.example' },
        }),
      ),
      'development',
    ),
    routes: sharedListRoutes(store, () => {}),
    /** The statuses that each operation lists. */
    statuses: {
      'GET /me': '200 400 401 413 500 503',
      'GET /todos': '200 304 400 401 412 413 500 503',
      'POST /todos': '201 400 401 403 409 413 415 422 500 503',
      'GET /todos/{id}': '200 304 400 401 404 412 413 500 503',
      'PUT /todos/{id}': '204 400 401 403 404 412 413 415 500 503',
      'DELETE /todos/{id}': '204 400 401 403 404 412 413 500 503',
    },
    schemas: [
      ...['CategoryId', 'CreateTodo', 'HttpValidationProblemDetails', 'IdentitySummary'],
      ...['ProblemDetails', 'ReplaceTodo', 'Title', 'TodoResponse'],
    ],
    /** Rules of the linter that the document breaks. */
    exceptions: [],
  },
  'error-demo': {
    target: errorDemoOf(
      parts.use(await startService({ profile: 'error-demo', environment: 'development' })),
      'development',
    ),
    routes: errorDemoRoutes(() => {}),
    statuses: {
      'GET /todos/{id}': '200 400 404 413 500',
      'POST /todos/{id}/complete': '200 400 404 409 413 500',
      'GET /crash': '413 500',
    },
    schemas: ['ProblemDetails', 'Todo'],
    // It never succeeds (contract Endpoints B, GET /crash).
    exceptions: ['operation-2xx-response at #/paths/~1crash/get/responses'],
  },
};

const textOf = (profile: string) =>
  readFileSync(new URL(`../../src/openapi/${profile}.v1.json`, import.meta.url), 'utf8');

for (const [profile, { target, routes, statuses, schemas, exceptions }] of Object.entries(PROFILES)) {
  const text = textOf(profile);
  const document = parseDocument(text);

  describe(`The document of ${profile}`, () => {
    test('is what development serves and the command openapi prints, byte for byte [D3]', async () => {
      assert.equal((await send(target, 'GET /openapi/v1.json')).body.toString(), text);
      const printed = await runCommand(['openapi', '--profile', profile]);
      assert.deepEqual(printed, { code: 0, stdout: text, stderr: '' });
    });

    test('is valid, and clean under a linter, every rule recommended to anybody switched on [D3]', async () => {
      assert.deepEqual(await new Validator().validate(JSON.parse(text)), { valid: true });
      const config = await createConfig({ extends: ['recommended-strict'] });
      const found = await lintFromString({ source: text, config, absoluteRef: 'v1.json' });
      const faults = found.map(({ ruleId, location }) => `${ruleId} at ${location[0]?.pointer}`);
      assert.deepEqual(faults, exceptions);
    });

    test('lists exactly the operations of the specification, each with every status it can have [D3]', () => {
      const listed = Object.entries(operationsOf(document)).map(([name, { responses }]) => {
        return [name, Object.keys(responses).join(' ')];
      });
      assert.deepEqual(Object.fromEntries(listed), statuses);
    });

    test('names its schemas [D3]', () => {
      assert.deepEqual(Object.keys(document.components.schemas).sort(), schemas);
    });

    test('has an example of each header that an answer always has, which its schema admits [D3]', () => {
      for (const [name, header] of responsesOf(document).flatMap(({ headers = {} }) =>
        Object.entries(headers),
      )) {
        if (header.required !== true) continue;
        assert.ok(new Ajv2020().validate(header.schema, header.example), name);
      }
    });

    test('has no unescaped slash in a pattern, which Specmatic takes for a delimiter [D3]', () => {
      assert.doesNotMatch(text, /"pattern": "(?:[^"\\]|\\.)*?(?<!\\\\)\//);
    });

    test('says that the id in a path is a 32-bit integer [R2]', () => {
      const items = Object.entries(document.paths).filter(([path]) => path.includes('{id}'));
      assert.notEqual(items.length, 0);
      const schema = { type: 'integer', format: 'int32', minimum: -2_147_483_648, maximum: 2_147_483_647 };
      for (const [, { parameters }] of items) {
        const [parameter] = parameters as Record<string, unknown>[];
        assert.partialDeepStrictEqual(parameter, { name: 'id', in: 'path', required: true, schema });
      }
    });

    test('has the operations of the routes and no others, each with its access, its id and its body [Endpoints A, rule 4]', () => {
      const documented = Object.entries(operationsOf(document)).map(([name, operation]) => {
        const { security, 'x-policy': policy, requestBody } = operation;
        return { name, security, policy, hasId: hasId(document, name), parses: requestBody !== undefined };
      });
      assert.deepEqual(documented.toSorted(byName), routes.map(stated).toSorted(byName));
    });

    test('has an example of each parameter and each body but the key of a create, which tools would send with every one [D3]', () => {
      const without = Object.keys(operationsOf(document)).flatMap(
        (name) => exampleOf(document, name).without,
      );
      assert.deepEqual(without, profile === 'shared-list' ? ['POST /todos: Idempotency-Key'] : []);
    });

    test('has examples of problems as the service writes them [P2; P3; P4]', () => {
      const found = responsesOf(document).flatMap(problemsOf);
      assert.ok(found.length > 3);
      for (const problem of found)
        assert.equal(JSON.stringify(problem), problemBody(problem, problem.traceId));
    });

    test('gives each problem the headers that every error has, and says its line of text in prose alone [N2; P1; P7]', () => {
      for (const [name, { responses }] of Object.entries(operationsOf(document))) {
        for (const [status, { content = {}, headers = {} }] of Object.entries(responses)) {
          if (status < '400') continue;
          assert.deepEqual(Object.keys(content), ['application/problem+json'], `${name} ${status}`);
          const { Vary, 'Cache-Control': cache } = headers;
          assert.ok(Vary?.required && cache?.required, `${name} ${status}`);
          assert.equal(cache.schema.const, status === '500' ? 'no-cache,no-store' : 'no-store');
        }
      }
      assert.match(document.info.description, /`text\/plain`, such as `Status Code: 404; Not Found`/);
    });
  });
}

test('openapi prints the document of the shared list unless told otherwise, and refuses other profiles [D3]', async () => {
  const printed = await runCommand(['openapi']);
  assert.deepEqual(printed, { code: 0, stdout: textOf('shared-list'), stderr: '' });
  for (const profile of ['list', 'toString']) {
    const { code, stderr } = await runCommand(['openapi', '--profile', profile]);
    assert.equal(code, 2);
    assert.match(stderr, /^--profile must be shared-list or error-demo, received "\w+"\n/);
  }
});

describe('The document of the shared list', () => {
  const document = parseDocument(textOf('shared-list'));
  const { target } = PROFILES['shared-list'];
  const { editor: token } = target.tokens;
  const check = responseChecker(document);

  test('has the largest ids that the service has [B9]', () => {
    const { CategoryId, TodoResponse } = document.components.schemas;
    assert.equal(CategoryId?.maximum, MAX_ID);
    for (const member of ['id', 'categoryId']) {
      assert.equal(TodoResponse?.properties?.[member]?.maximum, MAX_ID);
    }
  });

  test('admits the bodies that the service admits, a few characters of a text aside [B9; B10; B11]', () => {
    const wild = [' ', 'a', '\0', '\n', '\u00a0', '\u2003', '\u{1F95B}', 'e\u0301'];
    const unit = fc.oneof(fc.constantFrom(...wild), fc.string({ unit: codePoint, maxLength: 1 }));
    const values = {
      text: (maxLength = 0) =>
        fc.oneof(
          fc.string({ unit, maxLength: maxLength + 4 }),
          fc.constant('\u{1F95B}'.repeat(maxLength)),
          fc.constant('x'.repeat(maxLength + 1)),
        ),
      boolean: () => fc.boolean(),
      integer: () => fc.oneof(fc.constantFrom(0, 1, MAX_ID, MAX_ID + 1, 1.5), fc.integer()),
    };
    const members: readonly Member[] = MEMBERS;
    const good = { text: 'a', boolean: true, integer: 1 };
    const sent = members.map(({ name, kind, maxLength }) => {
      return [name, fc.oneof(fc.constant(good[kind]), values[kind](maxLength), fc.jsonValue())] as const;
    });
    const body = fc.record(Object.fromEntries(sent));
    const aside = (value: unknown) => typeof value === 'string' && /[\p{Cs}\u0085\ufeff]/u.test(value);
    for (const [name, parse] of [
      ['CreateTodo', parseCreateTodo],
      ['ReplaceTodo', parseReplaceTodo],
    ] as const) {
      const admits = schemaChecker(JSON.parse(textOf('shared-list')), name);
      fc.assert(
        fc.property(body, (sent) => {
          fc.pre(!Object.values(sent).some(aside));
          assert.equal(admits(sent), 'value' in parse(sent), JSON.stringify(sent));
        }),
        { numRuns: 1_000 },
      );
    }
  });

  for (const [title, schema, service] of [
    ['\u0085', true, false],
    ['\ud800', true, false],
    ['\ufeff', false, true],
  ] as const) {
    test(`of the title ${quoted(title)} the document says ${schema}, the service ${service} [B10]`, () => {
      const sent = { title, categoryId: 1 };
      assert.equal(schemaChecker(JSON.parse(textOf('shared-list')), 'CreateTodo')(sent), schema);
      assert.equal('value' in parseCreateTodo(sent), service);
    });
  }

  test('says what Vary is where origins are allowed, of the list too [D3]', async () => {
    const list = await send(target, 'GET /todos', { token });
    assert.equal(header(list, 'vary'), 'Accept-Encoding, Origin');
    check('GET', '/todos', list);
  });

  test('admits the keys of a create that the service admits [I5]', () => {
    const { parameters = [] } = operationsOf(document)['POST /todos'] ?? {};
    const pattern = patternOf(parameters, 'Idempotency-Key');
    const one = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));
    const longest = 'k'.repeat(128);
    const others = ['', '""', longest, `"${longest}"`, `${longest}k`, '"a', 'a"', '"a";v=1', 'a, b', 'a\n'];
    for (const value of [...one, ...one.map((character) => `"${character}"`), ...others]) {
      const admitted = pattern.test(value);
      assert.equal(admitted, parseIdempotencyKey(value) !== undefined, JSON.stringify(value));
    }
  });

  test('admits the preconditions that the service admits, of generated ones, wherever it reads them [D3; Order 4]', () => {
    const takers = Object.entries(operationsOf(document)).filter(([name]) => name !== 'POST /todos');
    const patterns = takers.flatMap(([, { parameters = [] }]) =>
      ['If-Match', 'If-None-Match'].map((name) => patternOf(parameters, name)),
    );
    const [pattern = /(?!)/, ...others] = patterns;
    for (const other of others) assert.deepEqual(other, pattern);
    const piece = fc.constantFrom(
      '"',
      'W/',
      'w/',
      'W',
      '*',
      ',',
      ' ',
      '\t',
      'a',
      '!',
      '\u007f',
      '\u0080',
      'ÿ',
      '\\',
    );
    const value = fc.oneof(
      fc.array(piece, { maxLength: 8 }),
      fc.array(fc.constantFrom('"a"', 'W/"ÿ"', '""', ',', ' ', '\t', '*', '"'), { maxLength: 10 }),
    );
    let admitted = 0;
    fc.assert(
      fc.property(value, (pieces) => {
        const text = pieces.join('');
        const isAdmitted = parseEntityTags(text) !== null;
        assert.equal(pattern.test(text), isAdmitted, JSON.stringify(text));
        if (isAdmitted) admitted += 1;
      }),
      { numRuns: cases(5_000, 1_000_000) },
    );
    assert.ok(admitted > 500);
  });

  for (const [name, answer] of Object.entries({ ...errors, ...UNSUPPORTED })) {
    test(`has an example of the answer ${name}, and says whether it may be repeated [D3]`, () => {
      const response = responsesOf(document).find((one) =>
        problemsOf(one).some((problem) => JSON.stringify(problem) === problemBody(answer, problem.traceId)),
      );
      assert.ok(response, 'no response has it');
      if (answer.headers?.['retry-after'] !== undefined) assert.ok(response.headers?.['Retry-After']);
    });
  }

  test('asks for a bearer token that is a JWT [Authentication 1]', () => {
    const { description, ...scheme } = document.components.securitySchemes?.bearer ?? {};
    assert.match(description ?? '', /\S/);
    assert.deepEqual(scheme, { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' });
  });

  test('names the policy CanWriteTodos and its role on every write, and on no read [A11]', () => {
    for (const [name, operation] of Object.entries(operationsOf(document))) {
      const writes = !name.startsWith('GET ');
      assert.equal(operation['x-policy'], writes ? 'CanWriteTodos' : undefined, name);
      assert.equal(/`editor` \(policy `CanWriteTodos`\)/.test(operation.description), writes, name);
    }
  });

  test('a request made from its examples succeeds, made again too [D3]', async () => {
    const listed = Object.entries(PROFILES['shared-list'].statuses);
    const statuses = Object.fromEntries(listed.map(([name, codes]) => [name, Number.parseInt(codes, 10)]));
    const ask = async (name: string) => {
      const { path, headers, json } = exampleOf(document, name);
      const [method = '', template = ''] = name.split(' ');
      const reply = await send(target, `${method} ${path}`, { token, headers, json });
      check(method, template, reply);
      return [name, reply.status];
    };
    const first = await ask('POST /todos');
    const all = [];
    for (const name of Object.keys(operationsOf(document))) all.push(await ask(name));
    assert.deepEqual([first, Object.fromEntries(all)], [['POST /todos', 201], statuses]);
  });

  test('has answers that a mock can serve together: the todo of each tag and each Location is its example [D3]', () => {
    const { responses } = operationsOf(document)['POST /todos'] ?? assert.fail();
    const [todo] = document.components.schemas.TodoResponse?.examples ?? [];
    const made = responses[201]?.headers ?? {};
    assert.equal(made.Location?.example, '/todos/1');
    assert.equal(made.ETag?.example, entityTag(JSON.stringify(todo)));
    assert.partialDeepStrictEqual(todo, { id: 1, ...Object(exampleOf(document, 'POST /todos').json) });
    const list = operationsOf(document)['GET /todos']?.responses[200]?.headers;
    assert.equal(list?.ETag?.example, entityTag(JSON.stringify([todo])));
  });

  const mistakes = {
    'One or more validation errors occurred.': { title: '', categoryId: 0 },
    'Category not found': { title: 'Buy milk', categoryId: 2_147_483_647 },
  };
  for (const [title, body] of Object.entries(mistakes)) {
    test(`the example of "${title}" is what the service answers [D3]`, async () => {
      const reply = await send(target, 'POST /todos', { token, json: body });
      check('POST', '/todos', reply);
      const { traceId, ...said } = json(reply) as { traceId: string };
      const listed = problemsOf(operationsOf(document)['POST /todos']?.responses[400] ?? {});
      const example = listed.find((problem) => problem.title === title);
      assert.deepEqual({ ...said, traceId: example?.traceId }, example, traceId);
    });
  }
});

describe('The document of the error demo', () => {
  const document = parseDocument(textOf('error-demo'));
  const { target } = PROFILES['error-demo'];

  test('asks nobody for a token [Authentication 10]', () => {
    assert.equal(document.components.securitySchemes, undefined);
  });

  test('completing a todo, completing it again, crashing and a malformed path answer as it says [D3]', async () => {
    const check = responseChecker(document);
    for (const [line, path, status] of [
      ['POST /todos/1/complete', '/todos/{id}/complete', 200],
      ['POST /todos/1/complete', '/todos/{id}/complete', 409],
      ['GET /crash', '/crash', 500],
      ['GET /todos/%FF', '/todos/{id}', 400],
    ] as const) {
      const reply = await send(target, line);
      assert.equal(reply.status, status);
      check(line.startsWith('POST') ? 'POST' : 'GET', path, reply);
    }
  });
});

/** What a route says of itself, as the document says it. */
function stated({ method, path, access, readsBody }: Route) {
  return {
    name: `${method} ${path.replace(':id', '{id}')}`,
    security: access === 'open' ? [] : [{ bearer: [] }],
    policy: access === 'CanWriteTodos' ? access : undefined,
    hasId: path.includes(':id'),
    parses: readsBody === true,
  };
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1;
}

function hasId(document: OpenApiDocument, name: string): boolean {
  const { parameters = [] } = document.paths[name.split(' ')[1] ?? ''] ?? {};
  return (parameters as readonly { readonly name: string }[]).some(({ name }) => name === 'id');
}

/** The pattern of a parameter, for engines that know Unicode. */
function patternOf(parameters: readonly Parameter[], name: string): RegExp {
  return new RegExp(parameters.find((one) => one.name === name)?.schema.pattern ?? assert.fail(name), 'u');
}

function responsesOf(document: OpenApiDocument): readonly Response[] {
  return Object.values(operationsOf(document)).flatMap(({ responses }) => Object.values(responses));
}

/** The examples of problems that a response has. */
function problemsOf({ content }: Response) {
  const examples = Object.values(content?.['application/problem+json']?.examples ?? {});
  return examples.map(({ value }) => value);
}
