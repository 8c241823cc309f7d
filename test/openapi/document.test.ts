import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { type Running, startService } from '../start.ts';
import { type OpenApiDocument, operationsOf, parseDocument, readDocument } from './read-document.ts';

const auth = { issuer: 'https://issuer.example', audience: 'todo-service', secret: randomBytes(64) };
const options = { 'shared-list': { auth }, 'error-demo': {} };

/** The statuses that each operation lists. */
const statuses = {
  'shared-list': {
    'GET /me': '200 400 401 413 500 503',
    'GET /todos': '200 304 400 401 412 413 500 503',
    'POST /todos': '201 400 401 403 409 413 415 422 500 503',
    'GET /todos/{id}': '200 304 400 401 404 412 413 500 503',
    'PUT /todos/{id}': '204 400 401 403 404 412 413 415 500 503',
    'DELETE /todos/{id}': '204 400 401 403 404 412 413 500 503',
  },
  'error-demo': {
    'GET /todos/{id}': '200 404 413 500',
    'POST /todos/{id}/complete': '200 404 409 413 500',
    'GET /crash': '413 500',
  },
};

const schemas = {
  'shared-list': [
    'CategoryId',
    'CreateTodo',
    'HttpValidationProblemDetails',
    'IdentitySummary',
    'ProblemDetails',
    'ReplaceTodo',
    'Title',
    'TodoResponse',
  ],
  'error-demo': ['ProblemDetails', 'Todo'],
};

/** Rules of the linter that the document breaks, and why that is right. */
const exceptions = {
  'shared-list': [],
  // Specification, Endpoints, Profile B: GET /crash never succeeds.
  'error-demo': ['operation-2xx-response at #/paths/~1crash/get/responses'],
};

for (const profile of ['shared-list', 'error-demo'] as const) {
  describe(`The OpenAPI document of ${profile}`, () => {
    let service: Running;
    let text = '';
    let document: OpenApiDocument;
    before(async () => {
      service = await startService({ profile, environment: 'development', ...options[profile] });
      text = await readDocument(service);
      document = parseDocument(text);
    });
    after(() => service[Symbol.asyncDispose]());

    test('D3 · is valid', async () => {
      assert.deepEqual(await new Validator().validate(JSON.parse(text)), { valid: true });
    });

    test('D3 · is clean under a linter, every rule recommended to anybody switched on', async () => {
      const config = await createConfig({ extends: ['recommended-strict'] });
      const found = await lintFromString({ source: text, config, absoluteRef: 'v1.json' });
      const faults = found.map(({ ruleId, location }) => `${ruleId} at ${location[0]?.pointer}`);
      assert.deepEqual(faults, exceptions[profile]);
    });

    test('D3 · lists exactly the operations of the specification, each with every status it can have', () => {
      const listed = Object.entries(operationsOf(document)).map(([name, { responses }]) => {
        return [name, Object.keys(responses).join(' ')];
      });
      assert.deepEqual(Object.fromEntries(listed), statuses[profile]);
    });

    test('D3 · names its schemas', () => {
      assert.deepEqual(Object.keys(document.components.schemas).sort(), schemas[profile]);
    });

    test('R2 · says that the id in a path is a 32-bit integer', () => {
      const items = Object.entries(document.paths).filter(([path]) => path.includes('{id}'));
      const parameters = items.map(([, { parameters }]) => (parameters as Record<string, unknown>[])[0]);
      assert.notEqual(parameters.length, 0);
      const schema = { type: 'integer', format: 'int32', minimum: -2_147_483_648, maximum: 2_147_483_647 };
      for (const parameter of parameters) {
        assert.partialDeepStrictEqual(parameter, { name: 'id', in: 'path', required: true, schema });
      }
    });

    test('N2, P1 · gives every problem as Problem Details and, except a 500, as a line of text', () => {
      for (const [name, { responses }] of Object.entries(operationsOf(document))) {
        for (const [status, { content }] of Object.entries(responses)) {
          if (status < '400') continue;
          const types = ['application/problem+json', ...(status === '500' ? [] : ['text/plain'])];
          assert.deepEqual(Object.keys(content ?? {}), types, `${name} ${status}`);
        }
      }
    });
  });

  test(`What the service does 6 · neither document nor page is served by ${profile} in production`, async () => {
    await using service = await startService({ profile, environment: 'production', ...options[profile] });
    for (const path of ['/openapi/v1.json', '/scalar', '/scalar/api-reference.js', '/scalar/icon.svg']) {
      assert.equal((await fetch(service.baseUrl + path)).status, 404, path);
    }
  });
}
