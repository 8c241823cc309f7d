import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentSchemas } from './components.ts';

const Todo = { $id: 'Todo', type: 'object' };

test('a schema with a name becomes a component, and a reference wherever it stands', () => {
  const { schemas, refer } = componentSchemas();
  assert.deepEqual(refer({ one: Todo, list: { type: 'array', items: [Todo] } }), {
    one: { $ref: '#/components/schemas/Todo' },
    list: { type: 'array', items: [{ $ref: '#/components/schemas/Todo' }] },
  });
  assert.deepEqual(schemas, { Todo: { type: 'object' } });
});

test('a schema inside a component becomes a component too', () => {
  const { schemas, refer } = componentSchemas();
  refer({ $id: 'Page', properties: { first: Todo } });
  assert.deepEqual(schemas, {
    Page: { properties: { first: { $ref: '#/components/schemas/Todo' } } },
    Todo: { type: 'object' },
  });
});

test('whatever has no name is copied as it is', () => {
  const { schemas, refer } = componentSchemas();
  const response = { description: 'None.', required: true, example: null, status: 204 };
  assert.deepEqual(refer(response), response);
  assert.deepEqual(schemas, {});
});
