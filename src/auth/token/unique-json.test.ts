import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseUniqueJson } from './unique-json.ts';

const OUTCOMES: readonly (readonly [string, 'parsed' | 'malformed' | 'duplicate'])[] = [
  ['{}', 'parsed'],
  ['{"a":1,"b":2}', 'parsed'],
  ['{"a":1,"a":1}', 'duplicate'],
  ['{"a":1,"A":1}', 'parsed'],
  ['{"a":1,"\\u0061":2}', 'duplicate'],
  ['{"a":{"b":1},"b":2}', 'parsed'],
  ['{"a":{"b":1,"b":2}}', 'duplicate'],
  ['{"a":{"b":1},"a":2}', 'duplicate'],
  ['[{"a":1},{"a":2}]', 'parsed'],
  ['[{"a":1},{"a":2,"a":3}]', 'duplicate'],
  ['{"a":["a","a"],"b":"a"}', 'parsed'],
  ['{"a":[1,2],"a":3}', 'duplicate'],
  ['{"a":"{\\"a\\":1,","b":"\\\\"}', 'parsed'],
  ['{"a":"\\\\","a":"\\""}', 'duplicate'],
  ['{"__proto__":1,"__proto__":2}', 'duplicate'],
  ['{ "a" : 1 , "a" : 2 }', 'duplicate'],
  ['{"a":1,}', 'malformed'],
  ["{'a':1}", 'malformed'],
  ['', 'malformed'],
  ['\ufeff{}', 'malformed'],
];

for (const [text, outcome] of OUTCOMES) {
  test(`${JSON.stringify(text)} is ${outcome}`, () => {
    assert.equal(parseUniqueJson(Buffer.from(text)).outcome, outcome);
  });
}

test('bytes that are not UTF-8 are malformed', () => {
  assert.equal(parseUniqueJson(Buffer.from([0x22, 0xc0, 0x80, 0x22])).outcome, 'malformed');
});
