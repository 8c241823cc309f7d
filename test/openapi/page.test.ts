import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { composeApp } from '../../src/app.ts';

const app = await composeApp({
  environment: 'development',
  log: pino({ level: 'silent' }),
  profile: { name: 'error-demo' },
});

const types = {
  '/openapi/v1.json': 'application/json; charset=utf-8',
  '/scalar': 'text/html; charset=utf-8',
  '/scalar/icon.svg': 'image/svg+xml',
  '/scalar/api-reference.js': 'text/javascript; charset=utf-8',
};

for (const [path, type] of Object.entries(types)) {
  test(`D3, R7 · ${path} is ${type}, to HEAD as to GET`, async () => {
    const got = await app.inject(path);
    assert.equal(got.statusCode, 200);
    assert.equal(got.headers['content-type'], type);
    assert.ok(got.rawPayload.length > 0);
    const head = await app.inject({ method: 'HEAD', url: path });
    assert.equal(head.statusCode, 200);
    assert.equal(head.headers['content-type'], type);
    assert.equal(head.rawPayload.length, 0);
    assert.equal(head.headers['content-length'], String(got.rawPayload.length));
  });

  test(`R4 · ${path} answers another method with 405`, async () => {
    const { statusCode, headers } = await app.inject({ method: 'POST', url: path });
    assert.equal(statusCode, 405);
    assert.equal(headers.allow, 'GET, HEAD');
    assert.equal(headers['content-type'], 'application/problem+json');
  });
}

test('D3 · the policy of the page lets it talk to this service alone, and run no script of its own text', async () => {
  const { headers } = await app.inject('/scalar');
  const policy = String(headers['content-security-policy']).split('; ');
  for (const directive of ["default-src 'self'", "connect-src 'self'", "script-src 'self'"]) {
    assert.ok(policy.includes(directive), directive);
  }
  assert.doesNotMatch(policy.join(), /https?:|\*|unsafe-eval/);
});

test('D3 · the page brings neither script nor style in its own text', async () => {
  const { body } = await app.inject('/scalar');
  assert.doesNotMatch(body, /<style|<script[^>]*>[^<]|<script(?![^>]* src=)|\son\w+=/i);
  assert.match(body, /<script [^>]*src="\/scalar\/api-reference\.js"/);
});
