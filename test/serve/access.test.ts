import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from '../../src/http/message/routes.ts';
import { startDemo } from '../operations/demo.ts';

test('Authentication 10 · a route of the error demo cannot ask for an identity', async () => {
  const route = { method: 'DELETE', path: '/todos', access: 'CanWriteTodos' } as const;
  const demo = startDemo({ routes: [{ ...route, handle: () => ({ status: 204 }) }] });
  await assert.rejects(demo, /Cannot start: .* there is no authentication/);
});

test('Endpoints A, rule 4 · a route that does not state its access does not compile', () => {
  // @ts-expect-error `access` is missing
  const route: Route = { method: 'DELETE', path: '/todos', handle: () => ({ status: 204 }) };
  assert.equal('access' in route, false);
});
