import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { newTraceId, parseTraceparent, setTraceId, traceIdOf } from './trace-id.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

test('the span id is new each time [P5]', () => {
  const parent = parseTraceparent(`00-${TRACE}-${SPAN}-00`);
  const ids = new Set(Array.from({ length: 1000 }, () => newTraceId(parent)));
  assert.equal(ids.size, 1000);
  for (const id of ids) assert.match(id, new RegExp(`^00-${TRACE}-(?!${SPAN})[0-9a-f]{16}-00$`));
});

test('a new trace has ids of its own, and is not sampled [P5]', () => {
  const ids = Array.from({ length: 1000 }, () => newTraceId(undefined));
  for (const id of ids) assert.match(id, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  for (const part of [1, 2]) assert.equal(new Set(ids.map((id) => id.split('-')[part])).size, 1000);
});

test('an id of zeros is never made, whatever chance says [P5]', (t) => {
  const { randomFillSync } = crypto;
  const zeros = (bytes: Buffer) => randomFillSync(bytes).fill(0, 0, 3000);
  const chance = t.mock.method(crypto, 'randomFillSync', zeros);
  syncBuiltinESMExports();
  t.after(() => {
    chance.mock.restore();
    syncBuiltinESMExports();
  });
  const ids = Array.from({ length: 500 }, () => newTraceId(undefined));
  assert.ok(chance.mock.callCount() > 1);
  for (const id of ids) assert.doesNotMatch(id, /-0+-/);
});

for (const [flags, sampled] of [
  ['00', false],
  ['01', true],
  ['02', false],
  ['03', true],
  ['fe', false],
  ['ff', true],
] as const) {
  test(`the flags ${flags} ${sampled ? 'say' : 'do not say'} sampled, and no other is kept [P5]`, () => {
    const parent = parseTraceparent(`00-${TRACE}-${SPAN}-${flags}`);
    assert.deepEqual(parent, { traceId: TRACE, parentId: SPAN, sampled });
    assert.match(newTraceId(parent), sampled ? /-01$/ : /-00$/);
  });
}

for (const version of ['01', 'cc', 'fe']) {
  for (const rest of ['', '-', '-what a later version says']) {
    test(`traceparent of version ${version} that ends with "${rest}" is taken [P5]`, () => {
      const parent = { traceId: TRACE, parentId: SPAN, sampled: true };
      assert.deepEqual(parseTraceparent(`${version}-${TRACE}-${SPAN}-01${rest}`), parent);
    });
  }
}

for (const traceparent of [
  '',
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-1`,
  `00-${TRACE}-${SPAN}-01-`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${TRACE}-${SPAN}-011`,
  `cc-${TRACE}-${SPAN}-01.extra`,
  `ff-${TRACE}-${SPAN}-01`,
  `ff-${TRACE}-${SPAN}-01-more`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  ` 00-${TRACE}-${SPAN}-01`,
  `100-${TRACE}-${SPAN}-01`,
  `00-${TRACE}0-${SPAN}-01`,
  `00-${TRACE}-${SPAN}0-01`,
  `0x-${TRACE}-${SPAN}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN.toUpperCase()}-01`,
  `00-${TRACE}-${SPAN}-0A`,
]) {
  test(`traceparent "${traceparent}" is ignored [P5]`, () => {
    assert.equal(parseTraceparent(traceparent), undefined);
  });
}

function requestWith(traceparent?: string): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  if (traceparent !== undefined) request.headers.traceparent = traceparent;
  return request;
}

test('a request has one traceId, in the trace of its caller [P5]', () => {
  const request = requestWith(`00-${TRACE}-${SPAN}-01`);
  const id = traceIdOf(request);
  assert.match(id, new RegExp(`^00-${TRACE}-(?!${SPAN})[0-9a-f]{16}-01$`));
  assert.equal(traceIdOf(request), id);
  assert.notEqual(traceIdOf(requestWith()), traceIdOf(requestWith()));
});

test('a request has the traceId that its trace gives it [P5]', () => {
  const request = requestWith(`00-${TRACE}-${SPAN}-00`);
  setTraceId(request, `00-${TRACE}-${SPAN}-01`);
  assert.equal(traceIdOf(request), `00-${TRACE}-${SPAN}-01`);
});
