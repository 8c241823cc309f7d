import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admitsProblem, isJson } from './media-type.ts';

const accepted = [
  'application/json;',
  'application/json; v=1; x="a;charset=latin1"',
  'application/json;a=";q=0;"',
  `application/json${'; '.repeat(8_000)}`,
  'application/vnd.example.v1+json; charset=utf-8',
];

const refused = [
  'application/+json',
  'application/json charset=utf-8',
  'application/json; charset',
  'application/json; charset=utf-8; charset=latin1',
  'application/json; charset=""',
  `application/json${'; '.repeat(8_000)}!`,
  `application/json;a="${'\\'.repeat(8_001)}`,
];

for (const type of accepted) {
  test(`B2 · ${name(type)} is JSON in UTF-8`, () => assert.equal(isJson(type), true));
}
for (const type of refused) {
  test(`B2 · ${name(type)} is not JSON in UTF-8`, () => {
    assert.equal(isJson(type), false);
  });
}

function name(type: string): string {
  return JSON.stringify(type.slice(0, 50));
}

const admitted: readonly string[] = [
  ' ',
  'application/json;v="a,b"',
  'application/json;a=";q=0;"',
  'application/json ; q=0.5 ',
  'application/json;q="0"',
  'application/*;v=1',
  'text/html,,application/json',
  '*',
  '*/json',
  'text/html;q=2',
  'text/html;q=abc',
  'text/html;q=0.1234',
];

const notAdmitted: readonly string[] = [
  'application/+json',
  'application/hal+json;q=0',
  'application/json;q=0, application/problem+json;q=0, */*',
  'text/html;a="application/json"',
  'text/html;a=",application/json,"',
  'application/json;Q=0',
];

for (const accept of admitted) {
  test(`N1 · Accept ${JSON.stringify(accept)} admits a problem`, () => {
    assert.equal(admitsProblem(accept), true);
  });
}

for (const accept of notAdmitted) {
  test(`N1 · Accept ${JSON.stringify(accept)} does not admit a problem`, () => {
    assert.equal(admitsProblem(accept), false);
  });
}

test('N1 · members that are no ranges are passed over one by one', () => {
  assert.equal(admitsProblem(`${'x,'.repeat(1000)}text/html`), false);
});

const HOSTILE = ['; ', ' ;', ';\t', '"', '\\', 'a=', ';a="', ';a="\\', ',', '/', ' ', ';q=', '*/*;', 'a/b,'];

test('N1 · hostile repeats, as long as a head may be, are read in one go', () => {
  const half = 8 * 1024;
  for (const one of HOSTILE) {
    for (const other of HOSTILE) {
      const repeats = one.repeat(half / one.length) + other.repeat(half / other.length);
      assert.equal(admitsProblem(`text/html, a/b${repeats}\u00e9`), false, `${one} ${other}`);
    }
  }
});
