import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { assertProblem, it } from '../problem.ts';
import { expecting, send, type Target } from '../target.ts';

/** The lines of the service's own log about requests (contract P5; Errors 3). */
export function log(target: Target, read: () => string): void {
  const { fails } = expecting(target);
  /** The entries about a request, once there are any: a line each, with the stack of an error below it. */
  async function entriesOf(traceId: string): Promise<readonly string[]> {
    // A minute: longer than any machine holds back a written line.
    for (let attempts = 0; attempts < 6_000; attempts += 1) {
      const entries = read().split(/\n(?=\{|\d\d:\d\d:\d\d)/);
      const found = entries.filter((entry) => entry.includes(traceId));
      if (found.length > 0) return found;
      await delay(10);
    }
    return [];
  }

  if (target.profile === 'error-demo') {
    test('the log has the exception once, with the traceId; the response has nothing of it [Errors 3; P5; P9]', async () => {
      for (const accept of ['*/*', 'text/html']) {
        const traceId = randomBytes(16).toString('hex');
        const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-00` };
        const reply = await send(target, 'GET /crash', { accept, headers });
        const stacks = (await entriesOf(traceId)).filter((entry) => /\bat .+:\d+:\d+/.test(entry));
        assert.equal(stacks.length, 1, read());
        if (accept === '*/*') assert.ok(stacks[0]?.includes(assertProblem(reply, 500).traceId), read());
        const message = /Error: (.+?)(?:\\n|\n)/.exec(stacks[0] ?? '')?.[1];
        assert.ok(message, stacks.join());
        assert.ok(!`${JSON.stringify(reply.headers)}${reply.body}`.includes(message));
      }
    });
  }

  if (target.environment === 'development') {
    it('the traceId of an error is in the log line of its request [P5]', async () => {
      const { traceId } = await fails(404, 'GET /nope');
      const entries = await entriesOf(traceId);
      assert.match(entries.join('\n'), /GET\b.*\b404\b/, read());
    });
  }

  test('a token, a body, a query and a path that matches nothing never get into the log [Errors 3]', async () => {
    const secret = 'c29tZXRoaW5nLXNlY3JldA';
    const token = `eyJ.${secret}.x`;
    const id = 'a'.repeat(32);
    const headers = { traceparent: `00-${id}-00f067aa0ba902b7-00`, 'X-Secret': secret, Cookie: secret };
    const lines = [
      'GET /todos/1',
      'POST /todos',
      'PATCH /todos/1',
      `GET /${secret}`,
      `DELETE /todos/${secret}`,
    ];
    for (const line of [...lines, ...(target.profile === 'error-demo' ? ['GET /crash'] : [])]) {
      await send(target, `${line}?token=${secret}`, { token, headers, json: { title: secret } });
    }
    const last = (await fails(404, 'GET /nope')).traceId;
    const written = target.environment === 'development' || target.profile === 'error-demo';
    if (written)
      assert.notEqual((await entriesOf(target.environment === 'development' ? last : id)).length, 0);
    assert.ok(!read().includes(secret));
  });
}
