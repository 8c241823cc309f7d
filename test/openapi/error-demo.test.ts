import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Running, startService } from '../start.ts';
import { ask } from './ask.ts';
import { responseChecker } from './check-response.ts';
import { type OpenApiDocument, operationsOf, parseDocument, readDocument } from './read-document.ts';

describe('The OpenAPI document of error-demo', () => {
  let service: Running;
  let document: OpenApiDocument;
  before(async () => {
    service = await startService({ profile: 'error-demo', environment: 'development' });
    document = parseDocument(await readDocument(service));
  });
  after(() => service[Symbol.asyncDispose]());

  test('Development-only endpoints · lists 200, 404 and 409 for complete, 409 as application/problem+json', () => {
    const complete = operationsOf(document)['POST /todos/{id}/complete'];
    assert.ok(complete?.responses[200]);
    assert.ok(complete.responses[404]);
    assert.ok(complete.responses[409]?.content?.['application/problem+json']);
  });

  test('Authentication 10 · asks nobody for a token', () => {
    assert.equal(document.components.securitySchemes, undefined);
    for (const [name, { security }] of Object.entries(operationsOf(document))) {
      assert.deepEqual(security, [], name);
    }
  });

  test('D3 · completing a todo, completing it again and crashing answer as it says', async () => {
    const check = responseChecker(document);
    const complete = 'POST /todos/1/complete';
    const replies = [
      await ask(service, complete),
      await ask(service, complete),
      await ask(service, 'GET /crash'),
    ];
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 409, 500],
    );
    for (const reply of replies.slice(0, 2)) check('POST', '/todos/{id}/complete', reply);
    for (const reply of replies.slice(2)) check('GET', '/crash', reply);
  });
});
