import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { everyResponse } from '../../packages/conformance/src/chapters/problem-details.ts';
import { assertProblem } from '../../packages/conformance/src/problem.ts';
import { send, type Target } from '../../packages/conformance/src/target.ts';
import { targetOf } from '../support/demo.ts';
import { assertRefused, Connection, converse } from '../support/raw.ts';
import { startService } from '../support/start.ts';

const KNOWN = ['/live', '/ready', '/metrics', '/version'];

const service = await startService({ profile: 'error-demo', env: { TODO_ADMIN_PORT: '0' } });
after(() => service[Symbol.asyncDispose]());
const { adminUrl } = service;

const target: Target = { ...targetOf(adminUrl), profile: 'error-demo' };

/** As the public listener answers: a stranger who reaches the port must not end the process (contract D10). */
describe('Admin listener, request by request', { concurrency: true }, () => {
  test('a body that never comes gets one 408 [D10]', async () => {
    const answers = await Promise.all(
      [...KNOWN, '/nope'].map((path) =>
        converse(adminUrl, `GET ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n`),
      ),
    );
    for (const ofOne of answers) assertRefused(ofOne, 408);
  });

  test('one chunk that is none gets one 400, behind the head and 250 ms later [D10]', async () => {
    const chunked = 'GET /metrics HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
    assertRefused(await converse(adminUrl, `${chunked}zz`), 400);
    await using late = await Connection.open(adminUrl);
    late.socket.write(chunked);
    await pause(250);
    late.socket.write('zz');
    await late.closed();
    assert.deepEqual(late.statuses(), [400]);
  });

  test('a body and its type are ignored, and one of more than 64 KiB is refused [B1; B5]', async () => {
    const ignored = await send(target, 'GET /metrics', {
      body: '{"title":',
      type: 'application/json; charset=x',
    });
    assert.equal(ignored.status, 200);
    const reply = await send(target, 'GET /metrics', { body: ' '.repeat(65_537) });
    assertProblem(reply, 413, { headers: { connection: 'close' } });
  });

  for (const path of KNOWN) {
    test(`${path} is found in any spelling, and HEAD is GET without body [R1; R3; R7]`, async () => {
      const spellings = [`${path}/`, path.toUpperCase(), `${path}?x=1`, `http://a${path}`];
      for (const spelling of [...spellings, path.replace('/l', '/%6c')]) {
        assert.equal((await send(target, `GET ${spelling}`)).status, 200, spelling);
      }
      const head = await send(target, `HEAD ${path}`);
      assert.deepEqual([head.status, head.body.length], [200, 0]);
    });

    test(`any other method of ${path} is a 405 with a sorted Allow [R4; R6]`, async () => {
      for (const method of ['POST', 'OPTIONS', 'PROPFIND']) {
        assertProblem(await send(target, `${method} ${path}`), 405, { headers: { allow: 'GET, HEAD' } });
      }
    });
  }

  test('the paths of the public listener are found there alone [R8]', async () => {
    assertProblem(await send(target, 'GET /todos/1'), 404);
  });

  test('a client that admits no problem gets a line of text [N2]', async () => {
    const reply = await send(target, 'GET /nope', { accept: 'text/plain' });
    assert.equal(reply.body.toString(), 'Status Code: 404; Not Found');
  });
});

describe('Admin listener, after all of it', () => {
  everyResponse(target);

  test('the process is there, and its log has no crash', async () => {
    assert.equal(await service.stop(), 0);
    const lines = service.stdout().trim().split('\n');
    const events = lines.map((line) => JSON.parse(line).event);
    assert.deepEqual(
      events.filter((event) => event !== 'request-refused'),
      ['started', 'stopping', 'stopped'],
    );
  });
});
