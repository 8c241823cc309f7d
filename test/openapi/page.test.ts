import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { documentRoutes } from '../../src/server/reference-page.ts';
import { startDemo } from '../support/demo.ts';

const demo = await startDemo({ routes: documentRoutes('error-demo', () => {}) });
after(() => demo[Symbol.asyncDispose]());

const types = {
  '/openapi/v1.json': 'application/json; charset=utf-8',
  '/scalar': 'text/html; charset=utf-8',
  '/scalar/icon.svg': 'image/svg+xml',
  '/scalar/api-reference.js': 'text/javascript; charset=utf-8',
};

for (const [path, type] of Object.entries(types)) {
  test(`${path} is ${type}, to HEAD as to GET [D3; R7]`, async () => {
    const got = await fetch(demo.url + path);
    const { byteLength } = await got.arrayBuffer();
    assert.equal(got.status, 200);
    assert.equal(got.headers.get('content-type'), type);
    assert.ok(byteLength > 0);
    const head = await fetch(demo.url + path, { method: 'HEAD' });
    assert.equal(head.status, 200);
    assert.equal(head.headers.get('content-type'), type);
    assert.equal(head.headers.get('content-length'), String(byteLength));
  });

  test(`${path} answers another method with 405 [R4]`, async () => {
    const { status, headers } = await fetch(demo.url + path, { method: 'POST' });
    assert.equal(status, 405);
    assert.equal(headers.get('allow'), 'GET, HEAD');
    assert.equal(headers.get('content-type'), 'application/problem+json');
  });
}

test('the policy of the page lets it talk to this service alone, and run no script of its own text [D3]', async () => {
  const { headers } = await fetch(`${demo.url}/scalar`);
  const policy = String(headers.get('content-security-policy')).split('; ');
  for (const directive of ["default-src 'self'", "connect-src 'self'", "script-src 'self'"]) {
    assert.ok(policy.includes(directive), directive);
  }
  assert.doesNotMatch(policy.join(), /https?:|\*|unsafe-eval/);
});

test('the page brings neither script nor style in its own text [D3]', async () => {
  const body = await (await fetch(`${demo.url}/scalar`)).text();
  assert.doesNotMatch(body, /<style|<script[^>]*>[^<]|<script(?![^>]* src=)|\son\w+=/i);
  assert.match(body, /<script [^>]*src="\/scalar\/api-reference\.js"/);
});

test('without scripts the page says where the document is [D3]', async () => {
  const body = await (await fetch(`${demo.url}/scalar`)).text();
  const [, said = ''] = /<noscript>(.*)<\/noscript>/.exec(body) ?? [];
  assert.match(said, /<a href="\/openapi\/v1\.json">/);
});
