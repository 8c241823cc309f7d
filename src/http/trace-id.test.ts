import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newTraceId, parseTraceparent } from './trace-id.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test('the span id is new each time [P5]', () => {
  const parent = parseTraceparent(`00-${TRACE}-${SPAN}-00`);
  const ids = new Set(Array.from({ length: 1000 }, () => newTraceId(parent)));
  assert.equal(ids.size, 1000);
  for (const id of ids) assert.match(id, new RegExp(`^00-${TRACE}-(?!${SPAN})[0-9a-f]{16}-00$`));
});

for (const traceparent of [
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-1`,
  `00-${TRACE}-${SPAN}-01-`,
  `cc-${TRACE}-${SPAN}-01.extra`,
]) {
  test(`traceparent ${traceparent} is ignored [P5]`, () => {
    assert.equal(parseTraceparent(traceparent), undefined);
  });
}
