import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heard, KINTO, POCKETBASE } from './products.ts';

const REQUESTS = ['GET /todos', 'GET /todos/7', 'POST /todos {"title":"a"}', 'PUT /todos/7 {"title":"a"}'];

test('Kinto is asked for records of a collection, and sent them as data', () => {
  const records = '/v1/buckets/list/collections/todos/records';
  assert.deepEqual(REQUESTS.map(KINTO.say), [
    `GET ${records}`,
    `GET ${records}/7`,
    `POST ${records} {"data":{"title":"a"}}`,
    `PUT ${records}/7 {"data":{"title":"a"}}`,
  ]);
});

test('PocketBase is asked for one page of all records, by ids of 15 characters', () => {
  const records = '/api/collections/todos/records';
  assert.deepEqual(REQUESTS.map(POCKETBASE.say), [
    `GET ${records}?perPage=1000&skipTotal=1`,
    `GET ${records}/000000000000007`,
    `POST ${records} {"title":"a"}`,
    `PATCH ${records}/000000000000007 {"title":"a"}`,
  ]);
});

test('what a product answers is compared as the list has it', () => {
  const [first, second] = [1, 2].map((id) => ({ id, title: 'a', done: false, categoryId: 1 }));
  const record = { title: 'a', categoryId: 1, last_modified: 5 };
  assert.deepEqual(heard(JSON.stringify({ data: { id: '1', ...record } })), first);
  assert.deepEqual(heard(JSON.stringify({ data: [2, 1].map((id) => ({ id: `${id}`, ...record })) })), [
    first,
    second,
  ]);
  assert.deepEqual(heard(JSON.stringify({ id: '000000000000001', ...record })), first);
});
