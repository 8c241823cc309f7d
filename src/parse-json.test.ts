import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseJson } from './parse-json.ts';

test('no text changes what a name with escapes means in a later one', () => {
  parseJson(String.raw`{"h":[],"https:\\/\\/a.example\\/ro":0}`);
  const claims = parseJson(String.raw`{"h":"ada","https:\/\/a.example\/roles":["editor"]}`);
  assert.deepEqual(claims, { h: 'ada', 'https://a.example/roles': ['editor'] });
  parseJson(String.raw`{"a":[],"ti\\u0":0}`);
  assert.deepEqual(parseJson(String.raw`{"a":"b","ti\u0074le":"c"}`), { a: 'b', title: 'c' });
});

/** Text as JSON, with every character that may be escaped in one way or another. */
const escaped = (text: string) =>
  `"${text.replace(/./gsu, (character) => {
    const units = character.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    return character === '/' ? '\\/' : units.join('');
  })}"`;

test('text with escapes has the value that was written', () => {
  const name = fc.string({ unit: 'grapheme' }).filter((text) => !/["\\\p{Cc}]/u.test(text));
  fc.assert(
    fc.property(name, fc.string({ unit: 'binary' }), (member, value) => {
      assert.deepEqual(parseJson(`{${escaped(member)}:${escaped(value)}}`), { [member]: value });
      assert.deepEqual(parseJson(JSON.stringify([value])), [value]);
    }),
  );
});

for (const malformed of ['"\\x"', '"\\u00g0"', '"\\', '\\"a"', '"\\\n"', '"\\u000"']) {
  test(`what is no JSON stays none: ${JSON.stringify(malformed)}`, () => {
    assert.throws(() => parseJson(malformed), SyntaxError);
  });
}
