import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { test } from '../check.ts';
import { header, json } from '../http.ts';
import { assertErrorHeaders, assertProblem, mediaType } from '../problem.ts';
import { provocations } from '../provoke.ts';
import { exchangesOf, send, type Target } from '../target.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';

/** The shape that every error has, on either profile. What each endpoint says stands with the endpoint. */
export function problemDetails(target: Target): void {
  describe('Problem Details', () => {
    test('P1, P2, P4, P6 · every error is application/problem+json with the members in order and its own title', async () => {
      for (const { line, request, status, ...expected } of await provocations(target)) {
        assertProblem(await send(target, line, request), status, expected);
      }
    });

    test('What the service does 5, Problem Details body · every error has type, title, status and a traceId of its own', async () => {
      for (const { line, request, status, ...expected } of await provocations(target)) {
        assertProblem(await send(target, line, request), status, expected);
      }
    });

    test('P3 · type points at the section of RFC 9110 for the status', async () => {
      const base = 'https://tools.ietf.org/html/rfc9110';
      const sections: Readonly<Record<number, string>> = {
        400: `${base}#section-15.5.1`,
        401: `${base}#section-15.5.2`,
        403: `${base}#section-15.5.4`,
        404: `${base}#section-15.5.5`,
        405: `${base}#section-15.5.6`,
        409: `${base}#section-15.5.10`,
        413: `${base}#section-15.5.14`,
        415: `${base}#section-15.5.16`,
      };
      for (const { line, request, status } of await provocations(target)) {
        const problem = json(await send(target, line, request)) as { type: string; status: number };
        assert.equal(problem.type, sections[status], line);
        assert.equal(problem.status, status);
      }
    });

    test('P5 · traceId differs for every request and has the form of Trace Context', async () => {
      const first = assertProblem(await send(target, 'GET /nope'), 404);
      const second = assertProblem(await send(target, 'GET /nope'), 404);
      assert.notEqual(first.traceId.split('-')[1], second.traceId.split('-')[1]);
    });

    test('P5 · a valid traceparent gives the trace id and the sampled flag, never the span id', async () => {
      const future = `01-${traceId}-${parentId}-01-more`;
      for (const [flags, sampled] of Object.entries({
        '00': '00',
        '01': '01',
        '02': '00',
        '03': '01',
        ff: '01',
      })) {
        for (const traceparent of [
          `00-${traceId}-${parentId}-${flags}`,
          `cc-${traceId}-${parentId}-${flags}`,
        ]) {
          const problem = assertProblem(await send(target, 'GET /nope', { headers: { traceparent } }), 404);
          assert.match(problem.traceId, new RegExp(`^00-${traceId}-[0-9a-f]{16}-${sampled}$`), traceparent);
          assert.ok(!problem.traceId.includes(parentId));
        }
      }
      const problem = assertProblem(
        await send(target, 'GET /nope', { headers: { traceparent: future } }),
        404,
      );
      assert.ok(problem.traceId.startsWith(`00-${traceId}-`));
    });

    test('P5 · an invalid traceparent is ignored', async () => {
      const valid = `00-${traceId}-${parentId}-01`;
      const malformed = [
        `ff${valid.slice(2)}`,
        `${valid}-more`,
        `${valid}0`,
        valid.toUpperCase(),
        valid.slice(0, -1),
      ];
      const zeros = [`00-${'0'.repeat(32)}-${parentId}-01`, `00-${traceId}-${'0'.repeat(16)}-01`];
      for (const traceparent of [...malformed, ...zeros, 'x', '', [valid, valid]]) {
        const problem = assertProblem(await send(target, 'GET /nope', { headers: { traceparent } }), 404);
        assert.ok(!problem.traceId.includes(traceId), `traceparent: ${traceparent}`);
      }
    });

    test('P7 · every error has Vary: Accept and Cache-Control: no-store, whether its body is a problem or a text line', async () => {
      for (const accept of ['*/*', 'text/html']) {
        for (const { line, request, status } of await provocations(target)) {
          assertErrorHeaders(await send(target, line, { ...request, accept }), status);
        }
      }
    });

    test('Errors 6 · a client can tell an error from a success by the content type', async () => {
      for (const { line, request } of await provocations(target)) {
        assert.equal(mediaType(await send(target, line, request)), 'application/problem+json');
      }
    });
  });
}

/** What must hold of every response seen so far: register it after all other suites. */
export function everyResponse(target: Target): void {
  describe('Every response', () => {
    test('D8 · has X-Content-Type-Options: nosniff and neither Server nor X-Powered-By', () => {
      for (const { method, path, reply } of exchangesOf(target)) {
        const line = `${method} ${path} ${reply.status}`;
        assert.equal(header(reply, 'x-content-type-options'), 'nosniff', line);
        assert.equal(header(reply, 'server'), undefined, line);
        assert.equal(header(reply, 'x-powered-by'), undefined, line);
      }
    });

    test('P5 · no two of them have the same traceId', () => {
      const traceIds = exchangesOf(target)
        .filter(({ reply }) => header(reply, 'content-type') === 'application/problem+json')
        .filter(({ reply }) => reply.body.length > 0)
        .map(({ reply }) => (json(reply) as { traceId: string }).traceId);
      assert.equal(new Set(traceIds).size, traceIds.length);
    });

    test('P6 · is a problem or a text line when it is an error, or the empty 500 of a client that admits neither', () => {
      for (const { method, path, reply } of exchangesOf(target).filter((one) => one.reply.status >= 400)) {
        const type = header(reply, 'content-type');
        const empty = reply.status === 500 && type === undefined && reply.body.length === 0;
        const line = `${method} ${path} ${reply.status} ${type}`;
        assert.ok(type === 'application/problem+json' || type === 'text/plain' || empty, line);
      }
    });

    test('A2, Authentication 9 · never gives out a token', () => {
      for (const { method, path, reply } of exchangesOf(target)) {
        const text = `${JSON.stringify(reply.headers)}${reply.body}`;
        // The reference page's script holds examples of its own.
        if (!path.startsWith('/scalar')) assert.doesNotMatch(text, /eyJ[\w-]+\.eyJ/, `${method} ${path}`);
      }
    });
  });
}
