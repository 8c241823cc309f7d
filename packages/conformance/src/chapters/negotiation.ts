import assert from 'node:assert/strict';
import { test } from 'node:test';
import { header, type Reply } from '../http.ts';
import { assertProblem, assertTextLine, byLaw, it, mediaType, phraseOf } from '../problem.ts';
import { provocations } from '../provoke.ts';
import { expecting, makeTodo, send, type Target } from '../target.ts';

const admitting: readonly (string | readonly string[])[] = [
  ...['', ',', 'garbage', 'json', 'application/', '???'],
  ...['*/*', '*/*;q=0.8', 'application/*', 'application/*;q=0.001'],
  ...['application/json', 'APPLICATION/JSON', 'application/json;q=0.1', 'application/json; charset=utf-8'],
  ...['application/problem+json', 'application/problem+json;q=1.000', 'application/json;v=1'],
  ...['application/hal+json', 'application/vnd.example.v2+json', 'text/html, application/json;q=0.1'],
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'application/json;q=0, */*',
  'application/problem+json;q=0, application/json',
  '*/*;q=0, application/problem+json',
  'application/*;q=0, application/json',
  ['text/html', 'application/json'],
  // The `Accept` that JDKs before 9 send by default.
  'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2',
  ...['.2', '0.2345', '1.0000', '2', 'high', '-1', '', '"0"'].map((weight) => `text/html, */*;q=${weight}`),
  ...['text/html, */*;q', 'text/html;q=0, application/json;Q=00.1'],
];

const refusing: readonly (string | readonly string[])[] = [
  ...['text/html', 'text/html,application/xhtml+xml', 'text/plain', 'text/*', 'text/json', 'image/png'],
  ...['application/xml', 'application/problem+xml', 'application/xhtml+xml', 'application/jsonx'],
  ...['*/*;q=0', '*/*;q=0.000', 'application/*;q=0', 'application/json;q=0', 'application/problem+json;q=0'],
  'text/html, ???',
  'application/*;q=0, */*',
  '*/*, application/json;q=0, application/problem+json;q=0',
  ['text/html', 'image/png'],
  ...['.0', '00', '0.0000', '0.'].map((weight) => `text/html, */*;q=${weight}`),
  ...['1.0000', 'high', '-1', ''].map((weight) => `text/html;q=${weight}`),
];

/**
 * Errors by the `Accept` of a request (contract Errors 4; N1 to N5). The crash is the error demo's, beside its endpoint.
 */
export function negotiation(target: Target): void {
  const { fails } = expecting(target);
  test('a problem is written when Accept is missing or admits JSON or Problem Details [Errors 4; N1]', async () => {
    await fails(404, 'GET /nope');
    for (const Accept of byLaw(admitting, ['*/*', 'application/json', 'application/problem+json'])) {
      const reply = await send(target, 'GET /nope', { headers: { Accept } });
      assert.equal(mediaType(reply), 'application/problem+json', `Accept: ${Accept}`);
      assertProblem(reply, 404);
    }
  });

  test('an unmatched route answers a client that does not admit JSON with the text line [Errors 4; N2]', async () => {
    for (const Accept of byLaw(refusing, ['text/html'])) {
      const reply = await send(target, 'GET /nope', { headers: { Accept } });
      assert.equal(mediaType(reply), 'text/plain', `Accept: ${Accept}`);
      assertTextLine(reply, 404, 'Status Code: 404; Not Found');
    }
  });

  it('every error becomes a text line, also what an endpoint says, beside its Allow and WWW-Authenticate [N2; N4]', async () => {
    for (const { line, request, status, headers } of await provocations(target)) {
      const reply = await send(target, line, { ...request, accept: 'text/html' });
      assertTextLine(reply, status, `Status Code: ${status}; ${phraseOf(status)}`);
      assert.equal(header(reply, 'allow'), headers?.allow, line);
      assert.equal(header(reply, 'www-authenticate'), headers?.['www-authenticate'], line);
    }
  });

  it('HEAD has the header of the text line and no body [N2; R7]', async () => {
    const reply = await send(target, 'HEAD /nope', { accept: 'text/html' });
    assert.equal(header(reply, 'content-type'), 'text/plain');
  });

  it('Accept never changes a success [N5]', async () => {
    for (const accept of ['text/html', 'application/xml', '*/*;q=0']) {
      for (const reply of await successes(target, accept)) {
        assert.equal(reply.status, 200, accept);
        assert.equal(header(reply, 'content-type'), 'application/json; charset=utf-8');
      }
    }
  });

  it('an error that is written straight to the socket is always a problem [N5]', async () => {
    const headers = { Host: ['one.example', 'two.example'] };
    await fails(400, 'GET /nope', { accept: 'text/html', headers }, { detail: 'any' });
  });
}

async function successes(target: Target, accept: string): Promise<Reply[]> {
  if (target.profile === 'error-demo') return [await send(target, 'GET /todos/1', { accept })];
  const token = target.tokens.reader;
  const { id } = await makeTodo(target);
  return Promise.all(
    ['GET /me', 'GET /todos', `GET /todos/${id}`].map((line) => send(target, line, { token, accept })),
  );
}
