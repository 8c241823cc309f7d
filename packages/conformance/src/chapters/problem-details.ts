import assert from 'node:assert/strict';
import { test } from 'node:test';
import { header, json } from '../http.ts';
import { assertErrorHeaders, it } from '../problem.ts';
import { provocations } from '../provoke.ts';
import { exchangesOf, expecting, type Target } from '../target.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';

/** The shape that every error has, on either profile. Details of an endpoint stand with the endpoint. */
export function problemDetails(target: Target): void {
  const { fails } = expecting(target);
  test('every error is a problem with a type, a title and a traceId of its own [What the service does 5; Problem Details body; Errors 6; P1; P2; P3; P4; P6; P7]', async () => {
    for (const { line, request, status, ...expected } of await provocations(target)) {
      await fails(status, line, request, expected);
    }
  });

  it('traceId differs for every request and has the form of Trace Context [P5]', async () => {
    const first = await fails(404, 'GET /nope');
    const second = await fails(404, 'GET /nope');
    assert.notEqual(first.traceId.split('-')[1], second.traceId.split('-')[1]);
  });

  it('a valid traceparent gives the trace id and the sampled flag, never the span id [P5]', async () => {
    const flags = { '00': '00', '01': '01', '02': '00', '03': '01', ff: '01', '01-more': '01' };
    for (const [given, sampled] of Object.entries(flags)) {
      // Members of a later version behind the flags are passed over.
      const versions = given.endsWith('-more') ? ['01'] : ['00', 'cc'];
      for (const traceparent of versions.map((version) => `${version}-${traceId}-${parentId}-${given}`)) {
        const problem = await fails(404, 'GET /nope', { headers: { traceparent } });
        assert.match(problem.traceId, new RegExp(`^00-${traceId}-[0-9a-f]{16}-${sampled}$`), traceparent);
        assert.ok(!problem.traceId.includes(parentId));
      }
    }
  });

  it('an invalid traceparent is ignored [P5]', async () => {
    const valid = `00-${traceId}-${parentId}-01`;
    const zeros = [`00-${'0'.repeat(32)}-${parentId}-01`, `00-${traceId}-${'0'.repeat(16)}-01`];
    const malformed = [`ff${valid.slice(2)}`, `${valid}-more`, `${valid}0`, valid.toUpperCase()];
    for (const traceparent of [...zeros, ...malformed, valid.slice(0, -1), 'x', '', [valid, valid]]) {
      const problem = await fails(404, 'GET /nope', { headers: { traceparent } });
      assert.ok(!problem.traceId.includes(traceId), `traceparent: ${traceparent}`);
    }
  });
}

/** The rules of every response seen so far: register it after all other suites. */
export function everyResponse(target: Target): void {
  it('has X-Content-Type-Options: nosniff and neither Server nor X-Powered-By [D8]', () => {
    for (const { method, path, reply } of exchangesOf(target)) {
      const line = `${method} ${path} ${reply.status}`;
      assert.equal(header(reply, 'x-content-type-options'), 'nosniff', line);
      assert.equal(header(reply, 'server'), undefined, line);
      assert.equal(header(reply, 'x-powered-by'), undefined, line);
    }
  });

  it('has the headers of every error when it is one [P7; D8]', () => {
    for (const { reply } of exchangesOf(target)) if (reply.status >= 400) assertErrorHeaders(reply);
  });

  it('no two of them have the same traceId [P5]', () => {
    const traceIds = exchangesOf(target)
      .filter(({ reply }) => header(reply, 'content-type') === 'application/problem+json')
      .filter(({ reply }) => reply.body.length > 0)
      .map(({ reply }) => (json(reply) as { traceId: string }).traceId);
    assert.equal(new Set(traceIds).size, traceIds.length);
  });

  it('is a problem or a text line when it is an error, or the empty 500 of a client that admits neither [P6]', () => {
    for (const { method, path, reply } of exchangesOf(target).filter((one) => one.reply.status >= 400)) {
      const type = header(reply, 'content-type');
      const empty = reply.status === 500 && type === undefined && reply.body.length === 0;
      const line = `${method} ${path} ${reply.status} ${type}`;
      assert.ok(type === 'application/problem+json' || type === 'text/plain' || empty, line);
    }
  });

  test('never gives out a token [A2; Authentication 9]', () => {
    for (const { method, path, reply } of exchangesOf(target)) {
      const text = `${JSON.stringify(reply.headers)}${reply.body}`;
      // The reference page's script holds examples of its own.
      if (!path.startsWith('/scalar')) assert.doesNotMatch(text, /eyJ[\w-]+\.eyJ/, `${method} ${path}`);
    }
  });
}

/** The rules of every success seen so far, of the endpoints of a profile and its documents. */
export function everySuccess(target: Target): void {
  it('says what caches may do when it is the success of a GET or HEAD [P8]', () => {
    for (const { method, path, reply } of exchangesOf(target)) {
      if (!/^(?:GET|HEAD)$/.test(method) || reply.status >= 300) continue;
      const isPrivate = target.profile === 'shared-list' && !/^\/(?:openapi|scalar)\b/.test(path);
      const wanted = isPrivate ? 'private, no-cache' : 'no-cache';
      assert.equal(header(reply, 'cache-control'), wanted, `${method} ${path} ${reply.status}`);
      if (isPrivate && path === '/me') assert.match(header(reply, 'vary') ?? '', /^Authorization\b/);
    }
  });
}
