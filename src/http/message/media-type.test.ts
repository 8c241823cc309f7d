import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJson } from './media-type.ts';

const accepted = [
  'application/json',
  'Application/JSON',
  'application/json;',
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'application/json; Charset="Utf-8"',
  'application/json; v=1; x="a;charset=latin1"',
  'application/json;a=";q=0;"',
  `application/json${'; '.repeat(8_000)}`,
  'application/problem+json',
  'application/vnd.example.v1+json; charset=utf-8',
];

const refused = [
  undefined,
  '',
  'text/plain',
  'text/json',
  'application/xml',
  'application/jsonx',
  'application/+json',
  'application/json charset=utf-8',
  'application/json; charset',
  'application/json; charset=utf-16',
  'application/json; charset=utf-8; charset=latin1',
  'application/json; charset=""',
  'application/json, application/json',
  'application/x-www-form-urlencoded',
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

function name(type: string | undefined): string {
  return type === undefined ? 'a missing Content-Type' : JSON.stringify(type.slice(0, 50));
}
