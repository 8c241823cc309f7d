import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemBody } from './problem.ts';

const TRACE_ID = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';

test('P2 · members stand in the order type, title, status, detail, errors, traceId', () => {
  const body = problemBody({ status: 409, title: 'T', detail: 'D', errors: { title: ['S'] } }, TRACE_ID);
  assert.equal(
    body,
    `{"type":"https://tools.ietf.org/html/rfc9110#section-15.5.10","title":"T","status":409,"detail":"D","errors":{"title":["S"]},"traceId":"${TRACE_ID}"}`,
  );
});

test('P2, P4 · absent members are omitted and the title comes from the status', () => {
  assert.equal(
    problemBody({ status: 431 }, TRACE_ID),
    `{"title":"Request Header Fields Too Large","status":431,"traceId":"${TRACE_ID}"}`,
  );
});
