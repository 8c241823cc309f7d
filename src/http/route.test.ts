import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { matchRoutes, type Route } from './route.ts';

const route = (method: Route['method'], path: string): Route => ({
  method,
  path,
  access: 'open',
  handle: () => ({ status: 204 }),
});
const list = route('GET', '/todos');
const create = route('POST', '/todos');
const read = route('GET', '/todos/:id');
const replace = route('PUT', '/todos/:id');
const complete = route('POST', '/todos/:id/complete');
const find = matchRoutes([list, create, read, replace, complete]);

describe('Routes', () => {
  test('a path is found with its methods in order, its route and its id [R2]', () => {
    const allow = 'GET, HEAD, POST';
    assert.deepEqual(find('POST', '/todos'), { path: '/todos', allow, route: create, id: undefined });
    const one = { path: '/todos/:id', allow: 'GET, HEAD, PUT', id: 7 };
    assert.deepEqual(find('PUT', '/todos/7'), { ...one, route: replace });
    const completion = { path: '/todos/:id/complete', allow: 'POST', id: 7 };
    assert.deepEqual(find('POST', '/todos/7/complete'), { ...completion, route: complete });
  });

  test('HEAD is answered by the route of GET, and by none where there is no GET [R7]', () => {
    assert.equal(find('HEAD', '/todos')?.route, list);
    assert.equal(find('HEAD', '/todos/7')?.route, read);
    assert.equal(find('HEAD', '/todos/7/complete')?.route, undefined);
  });

  test('a method that no route of the path has finds the path without a route [R4]', () => {
    for (const method of ['DELETE', 'PATCH', 'get', '', 'constructor']) {
      const found = find(method, '/todos');
      assert.equal(found?.route, undefined, method);
      assert.equal(found?.allow, 'GET, HEAD, POST');
    }
  });

  test('one final slash and letter case do not matter [R3]', () => {
    for (const path of ['/todos/', '/TODOS', '/Todos/']) assert.equal(find('GET', path)?.route, list, path);
    for (const path of ['/todos/7/', '/TODOS/7', '/Todos/+7/']) {
      assert.equal(find('GET', path)?.route, read, path);
      assert.equal(find('GET', path)?.id, 7, path);
    }
    assert.equal(find('POST', '/Todos/7/Complete/')?.route, complete);
  });

  for (const [segment, id] of [
    ['0', 0],
    ['9', 9],
    ['10', 10],
    ['+7', 7],
    ['-7', -7],
    ['007', 7],
    ['-0', -0],
    ['2147483647', 2_147_483_647],
    ['-2147483648', -2_147_483_648],
    [`${'0'.repeat(5000)}12`, 12],
  ] as const) {
    test(`the id ${segment.slice(-12)} is ${id} [R2]`, () => {
      assert.equal(find('GET', `/todos/${segment}`)?.id, id);
      assert.equal(find('POST', `/todos/${segment}/complete`)?.id, id);
    });
  }

  for (const path of [
    '/',
    '',
    '/todo',
    '/todoss',
    '//todos',
    '/todos//',
    '/todos/7//',
    '/todos/+',
    '/todos/-',
    '/todos/--7',
    '/todos/+-7',
    '/todos/7-',
    '/todos/7/8',
    '/todos/7/completed',
    '/todos/complete',
    '/todos//complete',
    '/todos/-/complete',
    '/xtodos/7',
    '/todos/7a',
    '/todos/a7',
    '/todos/7.0',
    '/todos/1e3',
    '/todos/0x7',
    '/todos/ 7',
    '/todos/7 ',
    '/todos/:id',
    '/todos/2147483648',
    '/todos/-2147483649',
    `/todos/${'9'.repeat(5000)}`,
    '/todos/\u0667',
    '/todos/:',
    '/todos//7',
  ]) {
    test(`nothing has the path ${JSON.stringify(path.slice(0, 24))} [R2]`, () => {
      assert.equal(find('GET', path), undefined);
      assert.equal(find('POST', path), undefined);
    });
  }
});
