import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { Client } from 'pg';
import { type List, startList } from '../operations/list.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { todo } from '../todo.ts';

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

function create(list: List, key: string, body: object = { title: 'Buy milk', categoryId: 1 }) {
  return fetch(`${list.url}/todos`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${list.editor}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    body: JSON.stringify(body),
  });
}

test('I3 · while another instance has the key under way, a create is a 409 that says when to repeat it', async () => {
  const database = await server.makeDatabase();
  await using list = await startList({ env: { TODO_DATABASE: database } });
  const other = new Client(database);
  await other.connect();
  const key = hash('sha256', '["https://issuer.example","test","a"]', 'base64url');
  await other.query('BEGIN');
  const kept = 'INSERT INTO idempotency_keys (key, body, todo_id) VALUES ($1, $2, 7)';
  await other.query(kept, [key, hash('sha256', '["Buy milk",1]', 'base64url')]);
  const reply = await create(list, 'a');
  assert.equal(reply.status, 409);
  assert.equal(reply.headers.get('retry-after'), '1');
  assert.equal(reply.headers.get('content-type'), 'application/problem+json');
  const { traceId: _, ...problem } = (await reply.json()) as Record<string, unknown>;
  assert.deepEqual(problem, {
    type: 'https://tools.ietf.org/html/rfc9110#section-15.5.10',
    title: 'Request In Progress',
    status: 409,
  });
  await other.query('COMMIT');
  await other.end();
  const again = await create(list, 'a');
  assert.equal(again.status, 201);
  assert.equal(again.headers.get('location'), '/todos/7');
});

test('I6 · a create that failed without a change leaves its key free', async () => {
  await using list = await startList();
  using other = new DatabaseSync(join(list.dataDir, 'todos.db'));
  other.exec('BEGIN IMMEDIATE');
  const failed = await create(list, 'a');
  assert.equal(failed.status, 503);
  assert.equal(failed.headers.get('retry-after'), '1');
  other.exec('ROLLBACK');
  const made = await create(list, 'a', { title: 'Buy bread', categoryId: 2 });
  assert.equal(made.status, 201);
  assert.equal(await made.text(), JSON.stringify(todo(1, 'Buy bread', false, 2)));
});
