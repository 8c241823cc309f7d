import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newTraceId as newIn, parseTraceparent } from './trace-id.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

const newTraceId = (traceparent: string | string[] | undefined) => newIn(parseTraceparent(traceparent));

test('P5 · without traceparent both ids are new and the flags are zero', () => {
  const [first, second] = [newTraceId(undefined), newTraceId(undefined)];
  assert.match(first, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  assert.notEqual(first.slice(3, 35), second.slice(3, 35));
});

test('P5 · a valid traceparent gives the trace id; the span id is new each time', () => {
  const ids = new Set(Array.from({ length: 1000 }, () => newTraceId(`00-${TRACE}-${SPAN}-00`)));
  assert.equal(ids.size, 1000);
  for (const id of ids) assert.match(id, new RegExp(`^00-${TRACE}-(?!${SPAN})[0-9a-f]{16}-00$`));
});

for (const [flags, kept] of [
  ['00', '00'],
  ['01', '01'],
  ['03', '01'],
  ['fe', '00'],
  ['ff', '01'],
]) {
  test(`P5 · of the flags ${flags} only the sampled bit is kept: ${kept}`, () => {
    assert.equal(newTraceId(`00-${TRACE}-${SPAN}-${flags}`).slice(-2), kept);
  });
}

test('P5 · a later version is read as far as it is known', () => {
  assert.equal(newTraceId(`cc-${TRACE}-${SPAN}-01-what-comes`).slice(3, 35), TRACE);
  assert.equal(newTraceId(`cc-${TRACE}-${SPAN}-01`).slice(3, 35), TRACE);
});

const invalid: readonly (string | string[])[] = [
  '',
  TRACE,
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-1`,
  `00-${TRACE}-${SPAN}-01-extra`,
  `00-${TRACE}-${SPAN}-01-`,
  `cc-${TRACE}-${SPAN}-01.extra`,
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
  [`00-${TRACE}-${SPAN}-01`],
];

for (const traceparent of invalid) {
  test(`P5 · traceparent ${JSON.stringify(traceparent)} is ignored`, () => {
    const id = newTraceId(traceparent);
    assert.match(id, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    assert.notEqual(id.slice(3, 35), TRACE);
  });
}
