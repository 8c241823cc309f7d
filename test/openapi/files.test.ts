import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { errorDemoRoutes } from '../../src/error-demo/routes.ts';
import type { Route } from '../../src/http/message/routes.ts';
import { problemBody, reasonPhrase } from '../../src/problem/problem.ts';
import * as answers from '../../src/shared-list/answers.ts';
import { parseIdempotencyKey } from '../../src/shared-list/request-headers.ts';
import { sharedListRoutes } from '../../src/shared-list/routes.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { MAX_ID, TITLE_MAX_LENGTH } from '../../src/store/todo.ts';
import { temporaryFolder } from '../folder.ts';
import { runProgram, startService } from '../start.ts';
import {
  type OpenApiDocument,
  operationsOf,
  parseDocument,
  type Response,
  readDocument,
} from './read-document.ts';

const parts = new AsyncDisposableStack();
after(() => parts.disposeAsync());

const folder = parts.use(await temporaryFolder());
const store = parts.use(await openSqliteStore(`${folder.path}/todos.db`));

const routes = {
  'shared-list': sharedListRoutes(store, () => {}),
  'error-demo': errorDemoRoutes(() => {}),
};

for (const profile of ['shared-list', 'error-demo'] as const) {
  const file = new URL(`../../src/openapi/${profile}.v1.json`, import.meta.url);
  const text = readFileSync(file, 'utf8');
  const document = parseDocument(text);

  describe(`The file of the document of ${profile}`, () => {
    test('D3 · is what development serves and the command openapi prints, byte for byte', async () => {
      await using service = await startService({ profile, environment: 'development' });
      assert.equal(await readDocument(service), text);
      assert.deepEqual(await runProgram(['openapi', '--profile', profile]), {
        code: 0,
        stdout: text,
        stderr: '',
      });
    });

    test('Endpoints A, rule 4 · has the operations of the routes and no others, each with its access, its id and its body', () => {
      const documented = Object.entries(operationsOf(document)).map(([name, operation]) => {
        const { security, 'x-policy': policy, requestBody } = operation;
        return { name, security, policy, hasId: hasId(document, name), parses: requestBody !== undefined };
      });
      assert.deepEqual(documented.toSorted(byName), routes[profile].map(stated).toSorted(byName));
    });

    test('P2, P3, P4 · has examples of problems as the service writes them', () => {
      const found = responsesOf(document).flatMap(problemsOf);
      assert.ok(found.length > 3);
      for (const problem of found)
        assert.equal(JSON.stringify(problem), problemBody(problem, problem.traceId));
    });

    test('N2, P7 · gives each problem the line of text of its status, and the headers that every error has', () => {
      for (const [name, { responses }] of Object.entries(operationsOf(document))) {
        for (const [status, response] of Object.entries(responses)) {
          if (status < '400') continue;
          const line = response.content?.['text/plain']?.schema.const;
          const phrase = reasonPhrase(Number(status));
          assert.equal(line, status === '500' ? undefined : `Status Code: ${status}; ${phrase}`, name);
          const { Vary, 'Cache-Control': cache } = response.headers ?? {};
          assert.ok(Vary?.required && cache?.required, `${name} ${status}`);
          assert.equal(cache.schema.const, status === '500' ? 'no-cache,no-store' : 'no-store');
        }
      }
    });
  });
}

test('D3 · openapi prints the document of the shared list unless told otherwise, and refuses other profiles', async () => {
  const { stdout } = await runProgram(['openapi']);
  assert.deepEqual(await runProgram(['openapi', '--profile', 'shared-list']), {
    code: 0,
    stdout,
    stderr: '',
  });
  for (const profile of ['list', 'toString']) {
    const { code, stderr } = await runProgram(['openapi', '--profile', profile]);
    assert.equal(code, 2);
    assert.match(stderr, /^--profile must be shared-list or error-demo, received "\w+"\n/);
  }
});

describe('The document of the shared list', () => {
  const file = new URL('../../src/openapi/shared-list.v1.json', import.meta.url);
  const document = parseDocument(readFileSync(file, 'utf8'));

  test('B9, B10 · has the limits that the service has', () => {
    const { Title, CategoryId, TodoResponse } = document.components.schemas;
    assert.equal(Title?.maxLength, TITLE_MAX_LENGTH);
    assert.equal(CategoryId?.maximum, MAX_ID);
    for (const member of ['id', 'categoryId']) {
      assert.equal(TodoResponse?.properties?.[member]?.maximum, MAX_ID);
    }
  });

  test('I5 · admits the keys of a create that the service admits', () => {
    const { parameters = [] } = operationsOf(document)['POST /todos'] ?? {};
    const pattern = parameters.find(({ name }) => name === 'Idempotency-Key')?.schema.pattern;
    assert.ok(pattern !== undefined);
    const one = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));
    const longest = 'k'.repeat(128);
    const others = ['', '""', longest, `"${longest}"`, `${longest}k`, '"a', 'a"', '"a";v=1', 'a, b', 'a\n'];
    for (const value of [...one, ...one.map((character) => `"${character}"`), ...others]) {
      const admitted = new RegExp(pattern, 'u').test(value);
      assert.equal(admitted, parseIdempotencyKey(value) !== undefined, JSON.stringify(value));
    }
  });

  for (const [name, answer] of Object.entries(answers)) {
    test(`D3 · has an example of the answer ${name}, and says whether it may be repeated`, () => {
      const response = responsesOf(document).find((one) =>
        problemsOf(one).some((problem) => JSON.stringify(problem) === problemBody(answer, problem.traceId)),
      );
      assert.ok(response, 'no response has it');
      if (answer.headers?.['retry-after'] !== undefined) assert.ok(response.headers?.['Retry-After']);
    });
  }
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

function responsesOf(document: OpenApiDocument): readonly Response[] {
  return Object.values(operationsOf(document)).flatMap(({ responses }) => Object.values(responses));
}

/** The examples of problems that a response has. */
function problemsOf({ content }: Response) {
  const examples = Object.values(content?.['application/problem+json']?.examples ?? {});
  return examples.map(({ value }) => value);
}
