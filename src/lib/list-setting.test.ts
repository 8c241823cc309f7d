import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { quoted } from '../../test/support/quoted.ts';
import { decodeEntry, readList } from './list-setting.ts';

const escaped = (text: string) =>
  text.replaceAll(/[%,=# ]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

test('a list of any texts, each escaped once, is read as these texts [A13]', () => {
  const part = fc.oneof(
    fc.constantFrom('%', ',', '%2C', '%252C', '=', '#', ' ', '%25', '20', 'a'),
    fc.string(),
  );
  const entry = fc.array(part, { minLength: 1 }).map((parts) => parts.join(''));
  const isWritable = (text: string) =>
    /^(?![\s\u0085\u200b]).*(?<![\s\u0085\u200b])$/s.test(escaped(text)) && text !== '';
  fc.assert(
    fc.property(fc.array(entry.filter(isWritable), { minLength: 1 }), (texts) => {
      const read = readList(texts.map(escaped).join(','), decodeEntry);
      assert.deepEqual(read, { entries: texts, malformed: [] });
    }),
  );
});

/** A list, its entries, and the malformed ones. */
const LISTS: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['a', ['a'], []],
  ['a,b', ['a', 'b'], []],
  ['a,a', ['a', 'a'], []],
  ['CN=Editors%2COU=Groups', ['CN=Editors,OU=Groups'], []],
  ['%2525', ['%25'], []],
  ['%20a%20', [' a '], []],
  ['a b#', ['a b#'], []],
  ['a,', ['a'], ['']],
  [',', [], ['', '']],
  ['', [], ['']],
  ['a, b,c ', ['a'], [' b', 'c ']],
  ['\u00a0a,\ufeffb,c\u2003', [], ['\u00a0a', '\ufeffb', 'c\u2003']],
  ['a,\u0085b,c\u200b', ['a'], ['\u0085b', 'c\u200b']],
  ['%2c,%3d,%41,%,%2,%2 C,%%2C,%u002C', [], ['%2c', '%3d', '%41', '%', '%2', '%2 C', '%%2C', '%u002C']],
  ['%2%2C', [], ['%2%2C']],
  ['100%,b', ['b'], ['100%']],
];

for (const [text, entries, malformed] of LISTS) {
  test(`${quoted(text)} has the entries ${quoted(entries)} [A13]`, () => {
    assert.deepEqual(readList(text, decodeEntry), { entries, malformed });
  });
}

test('where blanks are trimmed, those around an entry are not of it, and an empty entry is none', () => {
  const parse = (entry: string) => (entry === 'c' ? undefined : entry);
  assert.deepEqual(readList(' a,, b ,\tc', parse, 'trimmed'), { entries: ['a', 'b'], malformed: ['c'] });
});
