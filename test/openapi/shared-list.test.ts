import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { header, json } from '../../conformance/src/http.ts';
import { signer } from '../../conformance/src/sign.ts';
import { type Running, startService } from '../start.ts';
import { ask } from './ask.ts';
import { type CheckResponse, responseChecker } from './check-response.ts';
import { type OpenApiDocument, operationsOf, parseDocument, readDocument } from './read-document.ts';

const auth = { issuer: 'https://issuer.example', audience: 'todo-service', secret: randomBytes(64) };
const token = signer(auth)({ name: 'Ada', role: 'editor' });

describe('The OpenAPI document of shared-list', () => {
  let service: Running;
  let document: OpenApiDocument;
  let check: CheckResponse;
  before(async () => {
    service = await startService({ environment: 'development', auth });
    document = parseDocument(await readDocument(service));
    check = responseChecker(document);
  });
  after(() => service[Symbol.asyncDispose]());

  test('Authentication 1 · asks for a bearer token that is a JWT', () => {
    const { description, ...scheme } = document.components.securitySchemes?.bearer ?? {};
    assert.match(description ?? '', /\S/);
    assert.deepEqual(scheme, { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' });
  });

  test('A11 · names the policy CanWriteTodos and its role on every write, and on no read', () => {
    for (const [name, operation] of Object.entries(operationsOf(document))) {
      const writes = !name.startsWith('GET ');
      assert.equal(operation['x-policy'], writes ? 'CanWriteTodos' : undefined, name);
      assert.deepEqual(operation.security, [{ bearer: [] }], name);
      assert.equal(/`editor` \(policy `CanWriteTodos`\)/.test(operation.description), writes, name);
    }
  });

  test('D3 · a request made from its examples succeeds, as it says', async () => {
    const example = (name: string) => document.components.schemas[name]?.examples?.[0];
    const created = await ask(service, 'POST /todos', { token, json: example('CreateTodo') });
    assert.equal(created.status, 201);
    check('POST', '/todos', created);
    const path = header(created, 'location');
    const replaced = await ask(service, `PUT ${path}`, { token, json: example('ReplaceTodo') });
    assert.equal(replaced.status, 204);
    check('PUT', '/todos/{id}', replaced);
  });

  const mistakes = {
    'One or more validation errors occurred.': { title: '', categoryId: 0 },
    'Category not found': { title: 'Buy milk', categoryId: 2_147_483_647 },
  };
  for (const [title, body] of Object.entries(mistakes)) {
    test(`D3 · the example of "${title}" is what the service answers`, async () => {
      const reply = await ask(service, 'POST /todos', { token, json: body });
      check('POST', '/todos', reply);
      const { traceId, ...said } = json(reply) as { traceId: string };
      const listed =
        operationsOf(document)['POST /todos']?.responses[400]?.content?.['application/problem+json'];
      const example = Object.values(listed?.examples ?? {}).find(({ value }) => value.title === title);
      assert.deepEqual({ ...said, traceId: example?.value.traceId }, example?.value, traceId);
    });
  }
});
