import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseUniqueJson } from './unique-json.ts';

const TEXTS: readonly (readonly [string, 'unique' | 'duplicate' | 'malformed'])[] = [
  ['{}', 'unique'],
  ['{"a":1,"b":2}', 'unique'],
  ['{"a":1,"a":1}', 'duplicate'],
  ['{"a":1,"A":1}', 'unique'],
  ['{"a":1,"\\u0061":2}', 'duplicate'],
  ['{"a":{"b":1},"b":2}', 'unique'],
  ['{"a":{"b":1,"b":2}}', 'duplicate'],
  ['{"a":{"b":1},"a":2}', 'duplicate'],
  ['[{"a":1},{"a":2}]', 'unique'],
  ['[{"a":1},{"a":2,"a":3}]', 'duplicate'],
  ['{"a":["a","a"],"b":"a"}', 'unique'],
  ['{"a":[1,2],"a":3}', 'duplicate'],
  ['{"a":"{\\"a\\":1,","b":"\\\\"}', 'unique'],
  ['{"a":"\\\\","a":"\\""}', 'duplicate'],
  ['{"a":"\\":"}', 'unique'],
  ['{"__proto__":1,"__proto__":2}', 'duplicate'],
  ['{ "a" : 1 , "a" : 2 }', 'duplicate'],
  ['{"a":1,}', 'malformed'],
  ["{'a':1}", 'malformed'],
  ['', 'malformed'],
  ['\ufeff{}', 'malformed'],
];

for (const [text, is] of TEXTS) {
  test(`${JSON.stringify(text)} is ${is}`, () => {
    assert.deepEqual(parseUniqueJson(Buffer.from(text)), is === 'unique' ? JSON.parse(text) : undefined);
  });
}

test('bytes that are not UTF-8 are malformed', () => {
  assert.equal(parseUniqueJson(Buffer.from([0x22, 0xc0, 0x80, 0x22])), undefined);
});

test('a claim whose name is written with escapes has its name, whatever was read before', () => {
  parseUniqueJson(Buffer.from(String.raw`{"c":[],"https:\\/\\/b.example\\/ro":0}`));
  const claims = parseUniqueJson(Buffer.from(String.raw`{"c":"","https:\/\/b.example\/roles":["editor"]}`));
  assert.deepEqual(claims, { c: '', 'https://b.example/roles': ['editor'] });
});
