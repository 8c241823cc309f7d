import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonFault, jsonObjectFault, readJsonObject } from './json.ts';

const accepted = [
  '{}',
  ' [1,2.5e-3,-0] ',
  '"\\u00e9\\n"',
  '"\u007f\u0085"',
  'null',
  '{"a":{"b":[true,false]}}',
  '"é😀"',
];

for (const text of accepted) {
  test(`B4 · ${JSON.stringify(text)} is JSON`, () => assert.equal(jsonFault(text), undefined));
}

const refused: readonly (readonly [string, number, number, string])[] = [
  ['', 1, 1, 'The body is empty.'],
  [' \n ', 2, 2, 'The body is empty.'],
  ['{', 1, 2, 'The text ends too early.'],
  ['[1', 1, 3, 'The text ends too early.'],
  ['{} {}', 1, 4, 'Nothing may follow the value.'],
  ['{"a":1,}', 1, 8, 'A member name in double quotes is expected.'],
  ['{a:1}', 1, 2, 'A member name in double quotes or "}" is expected.'],
  ['{"a" 1}', 1, 6, 'A colon is expected.'],
  ['{"a":}', 1, 6, 'A value is expected.'],
  ['[1,]', 1, 4, 'A value is expected.'],
  ['[,]', 1, 2, 'A value or "]" is expected.'],
  ['[1 2]', 1, 4, 'A comma or a closing bracket is expected.'],
  ['[1}', 1, 3, 'A comma or a closing bracket is expected.'],
  ['{\n  "é😀": tru\n}', 2, 9, 'A value is expected.'],
  ['"a\nb"', 1, 1, 'This string is not valid.'],
  ['"\\x"', 1, 1, 'This string is not valid.'],
  ['{"\\u12":1}', 1, 2, 'This string is not valid.'],
  ['01', 1, 1, 'A value is expected.'],
  ['1.', 1, 1, 'A value is expected.'],
  ['+1', 1, 1, 'A value is expected.'],
  ['NaN', 1, 1, 'A value is expected.'],
  ['// c', 1, 1, 'A value is expected.'],
  ["{'a':1}", 1, 2, 'A member name in double quotes or "}" is expected.'],
];

for (const [text, line, column, problem] of refused) {
  test(`B4 · ${JSON.stringify(text)} fails at line ${line}, column ${column}`, () => {
    assert.deepEqual(jsonFault(text), { problem, line, column });
  });
}

test('B5 · 64 levels of nesting are JSON, one more is not', () => {
  assert.equal(jsonFault('['.repeat(64) + ']'.repeat(64)), undefined);
  assert.deepEqual(jsonFault('['.repeat(65)), {
    problem: 'Arrays and objects may nest 64 levels deep.',
    line: 1,
    column: 65,
  });
});

/** JSON with a character removed or added. */
const damaged = fc
  .tuple(fc.json({ maxDepth: 5 }), fc.nat(), fc.constantFrom('', ',', '"', '}', ']', '0', '\\', ' '))
  .map(([json, position, insert]) => {
    const at = position % (json.length + 1);
    return json.slice(0, at) + insert + json.slice(at + (insert === '' ? 1 : 0));
  });

test('the verdict is that of JSON.parse for generated and damaged texts', () => {
  fc.assert(
    fc.property(damaged, (text) => {
      let parses = true;
      try {
        JSON.parse(text);
      } catch {
        parses = false;
      }
      assert.equal(jsonFault(text) === undefined, parses, JSON.stringify(text));
    }),
    { numRuns: 2000 },
  );
});

for (const text of ['null', '[]', '"{}"', '1']) {
  test(`B4 · ${text} is JSON but not an object`, () => {
    assert.deepEqual(jsonObjectFault(`\n  ${text}`), {
      problem: 'An object is expected.',
      line: 2,
      column: 3,
    });
  });
}

test('B4 · an object is an object', () => assert.equal(jsonObjectFault(' {} '), undefined));

test('B4 · a text that is not JSON at all says so first', () => {
  assert.equal(jsonObjectFault('[1')?.problem, 'The text ends too early.');
  assert.equal(jsonObjectFault(' ')?.problem, 'The body is empty.');
});

test('what is read is the object of JSON.parse, or the fault of the search', () => {
  const nested = fc
    .tuple(fc.integer({ min: 61, max: 66 }), fc.boolean())
    .map(([levels, inString]) =>
      inString ? `{"a":"${'['.repeat(levels)}"}` : `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`,
    );
  fc.assert(
    fc.property(fc.oneof(damaged, nested), (text) => {
      const fault = jsonObjectFault(text);
      assert.deepEqual(readJsonObject(text), fault === undefined ? { object: JSON.parse(text) } : { fault });
    }),
    { numRuns: 2000 },
  );
});

test('a member whose name is written with escapes has its name, whatever was read before', () => {
  readJsonObject(String.raw`{"d":[],"ti\\u0":0}`);
  assert.deepEqual(readJsonObject(String.raw`{"d":"","ti\u0074le":"a"}`), { object: { d: '', title: 'a' } });
});
