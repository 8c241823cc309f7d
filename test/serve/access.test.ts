import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { composeApp } from '../../src/app.ts';

const compose = () => {
  const log = pino({ level: 'silent' });
  return composeApp({ environment: 'production', log, profile: { name: 'error-demo' } });
};

test('Endpoints, rule 4 · a route that does not state its access keeps the service from starting', async () => {
  const app = await compose();
  assert.throws(() => app.delete('/todos', () => ''), /the route DELETE \/todos must state its access/);
});

test('Authentication 10 · a route of the error demo cannot ask for an identity', async () => {
  const app = await compose();
  const route = { config: { access: 'CanWriteTodos' } } as const;
  assert.throws(() => app.delete('/todos', route, () => ''), /the error demo has no authentication/);
});
