import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { codePoint } from '../../test/support/code-point.ts';
import { quoted } from '../../test/support/quoted.ts';
import { readToken } from '../auth/token/read-token.ts';
import { readJsonObject } from '../http/json-body.ts';
import { parseJson } from './parse-json.ts';

function parsed(text: string): unknown {
  const result = parseJson(text);
  assert.ok('value' in result, text);
  return result.value;
}

const ACCEPTED = [
  '{}',
  ' [1,2.5e-3,-0] ',
  '"\\u00e9\\n"',
  '"\u007f\u0085"',
  'null',
  '{"a":{"b":[true,false]}}',
  '"é😀"',
  '"\\ud83d\\ude00 \\ud83d"',
  '"\\"\\\\\\/\\b\\f\\n\\r\\t"',
  '[1e999,-1e999,0e-999,9007199254740993]',
  '{"__proto__":{"a":1},"a":2,"__proto__":3}',
  '{"b":1,"1":2,"b":3,"0":4}',
];

for (const text of ACCEPTED) {
  test(`${quoted(text)} is JSON [B4]`, () => assert.deepEqual(parsed(text), JSON.parse(text)));
}

const NUMBER = 'This number is malformed or cut off. Numbers are written as 1, -0.5 or 2.5e3.';
const WORD =
  'This word is unknown or cut off. The words are true, false and null; a string stands in double quotes.';
const LINE_BREAK =
  'A line break in a string must be written as \\n, or the closing quotation mark is missing.';
const CUT_STRING = 'The text ends inside a string.';
const CUT_ESCAPE = 'The text ends inside an escape.';
const UNKNOWN = 'This escape is unknown. A backslash is written as \\\\, an apostrophe without one.';
const UNICODE = 'A Unicode escape has four hexadecimal digits. A backslash is written as \\\\.';

const REFUSED: readonly (readonly [string, number, number, string])[] = [
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
  ['[}', 1, 2, 'A value or "]" is expected.'],
  ['{]', 1, 2, 'A member name in double quotes or "}" is expected.'],
  ['[1 2]', 1, 4, 'A comma or a closing bracket is expected.'],
  ['[1}', 1, 3, 'A comma or a closing bracket is expected.'],
  ['{\n  "é😀": tru\n}', 2, 9, WORD],
  ['[True]', 1, 2, WORD],
  ['{"a":Äpfel}', 1, 6, WORD],
  ['_', 1, 1, WORD],
  ['NaN', 1, 1, WORD],
  ['truey', 1, 1, WORD],
  ['[1, fals', 1, 5, WORD],
  ['01', 1, 1, NUMBER],
  ['1.', 1, 1, NUMBER],
  ['[-', 1, 2, NUMBER],
  ['[.5]', 1, 2, NUMBER],
  ['1e+', 1, 1, NUMBER],
  ['0x1f', 1, 1, NUMBER],
  ['1_000', 1, 1, NUMBER],
  ['-Infinity', 1, 1, NUMBER],
  ['+1', 1, 1, NUMBER],
  ['[..]', 1, 2, 'A value or "]" is expected.'],
  ['"a\nb"', 1, 3, LINE_BREAK],
  ['{"a":"b,\n"c":1}', 1, 9, LINE_BREAK],
  ['{\n "é😀\ta": 1}', 2, 5, 'A tab in a string must be written as \\t.'],
  ['"\\n\b"', 1, 4, 'A backspace in a string must be written as \\b.'],
  ['"\f"', 1, 2, 'A form feed in a string must be written as \\f.'],
  [
    '"\r"',
    1,
    2,
    'A carriage return in a string must be written as \\r, or the closing quotation mark is missing.',
  ],
  [
    '"a\r\n"',
    1,
    3,
    'A line break in a string must be written as \\r\\n, or the closing quotation mark is missing.',
  ],
  ['"\u0000"', 1, 2, 'The control character U+0000 in a string must be written as \\u0000.'],
  ['"\u001b[1m"', 1, 2, 'The control character U+001B in a string must be written as \\u001b.'],
  ['"C:\\Users"', 1, 4, UNKNOWN],
  ['["é😀", "it\\\'s"]', 1, 11, UNKNOWN],
  ['"\\\\\\x"', 1, 4, UNKNOWN],
  ['"\\\n"', 1, 2, UNKNOWN],
  ['"C:\\users"', 1, 4, UNICODE],
  ['"\\u00g0"', 1, 2, UNICODE],
  ['{"\\u12":1}', 1, 3, UNICODE],
  ['"\\u123', 1, 7, CUT_ESCAPE],
  ['{"a":"b\\', 1, 9, CUT_ESCAPE],
  ['{"a":"b\\u', 1, 10, CUT_ESCAPE],
  ['"', 1, 2, CUT_STRING],
  ['{"tit', 1, 6, CUT_STRING],
  ['{\n"a":"é😀', 2, 8, CUT_STRING],
  ['"\\n', 1, 4, CUT_STRING],
  ['// c', 1, 1, 'A value is expected.'],
  ["{'a':1}", 1, 2, 'A member name in double quotes or "}" is expected.'],
  ['\\u007b"title":"a"}', 1, 1, 'A value is expected.'],
  ['{"title"\\u003a"a"}', 1, 9, 'A colon is expected.'],
  ['{"title":"a",\\u0020"done":true}', 1, 14, 'A member name in double quotes is expected.'],
  ['{"done":\\u0074rue}', 1, 9, 'A value is expected.'],
  ['{"done":tr\\u0075e}', 1, 9, WORD],
  ['[\\u0031]', 1, 2, 'A value or "]" is expected.'],
  ['\\u005b'.repeat(5000), 1, 1, 'A value is expected.'],
  ['\ufeff{}', 1, 1, 'A value is expected.'],
];

for (const [text, line, column, problem] of REFUSED) {
  test(`${quoted(text).slice(0, 60)} fails at line ${line}, column ${column} [B4]`, () => {
    assert.deepEqual(parseJson(text), { fault: { problem, line, column } });
    assert.throws(() => JSON.parse(text), SyntaxError);
  });
}

test('where a body is no object, or nests more than 64 levels deep, is said [B4; B5]', () => {
  const noObject = { problem: 'An object is expected.', line: 2, column: 3 };
  assert.deepEqual(readJsonObject('\n  [1]'), { fault: noObject });
  const tooDeep = { problem: 'Arrays and objects may nest 64 levels deep.', line: 1, column: 69 };
  assert.deepEqual(readJsonObject(`{"a":${'['.repeat(64)}`), { fault: tooDeep });
});

test('nesting has no end by default', () => {
  let value = parsed(`${'['.repeat(200_000)}${']'.repeat(200_000)}`);
  let depth = 0;
  for (; Array.isArray(value); depth += 1) value = value[0];
  assert.equal(depth, 200_000);
});

const DUPLICATES: readonly (readonly [string, boolean])[] = [
  ['{"a":1,"b":2}', false],
  ['{"a":1,"a":1}', true],
  ['{"a":1,"A":1}', false],
  ['{"a":1,"\\u0061":2}', true],
  ['{"a":{"b":1},"b":2}', false],
  ['{"a":{"b":1,"b":2}}', true],
  ['{"a":{"b":1},"a":2}', true],
  ['[{"a":1},{"a":2}]', false],
  ['[{"a":1},{"a":2,"a":3}]', true],
  ['{"a":["a","a"],"b":"a"}', false],
  ['{"a":[1,2],"a":3}', true],
  ['{"a":"{\\"a\\":1,","b":"\\\\"}', false],
  ['{"a":"\\\\","a":"\\""}', true],
  ['{"a":"\\":"}', false],
  ['{"__proto__":1,"__proto__":2}', true],
  ['{"__proto__":1,"constructor":2,"toString":3}', false],
  ['{ "a" : 1 , "a" : 2 }', true],
];

for (const [text, duplicate] of DUPLICATES) {
  test(`${quoted(text)} has ${duplicate ? 'two members' : 'no two members'} of one name`, () => {
    const parsed = parseJson(text, { uniqueNames: true });
    if (duplicate) assert.ok('fault' in parsed && /twice/.test(parsed.fault.problem));
    else assert.deepEqual(parsed, { value: JSON.parse(text) });
  });
}

/** A value and one of its many spellings. */
interface Written {
  readonly text: string;
  readonly value: unknown;
  /** An object in it has two members of one name. */
  readonly duplicate: boolean;
}

/** Names that V8 takes for each other: one is the beginning of how another is written, backslash included. */
const NAMES = ['', 'a', 'role', 'ro', 'ro\\u006', 'ro\\', 'r\\u006f', 'title', 'ti\\u0', 'ti\\'].concat(
  ['\\', '"', '\\"', '\n', '\u0000', '__proto__', '__pro\\u00', 'constructor', 'toString'],
  ['0', '1', 'é', '😀', '\ud800', 'a/b', 'a\\/', 'a\\'],
);

/** The spellings of a character in a string, RFC 8259 §7. */
function spellings(character: string): string[] {
  const hex = character.charCodeAt(0).toString(16).padStart(4, '0');
  const short = JSON.stringify(character).slice(1, -1);
  return [short, short, `\\u${hex}`, `\\u${hex.toUpperCase()}`, ...(character === '/' ? ['\\/'] : [])];
}

const anyString = (text: fc.Arbitrary<string>): fc.Arbitrary<Written & { readonly value: string }> =>
  text.chain((value) =>
    fc
      .tuple(...value.split('').map((character) => fc.constantFrom(...spellings(character))))
      .map((written) => ({ text: `"${written.join('')}"`, value, duplicate: false })),
  );

const anyName = anyString(fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: codePoint, maxLength: 5 })));
const anyNumber = fc
  .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
  .chain((value) =>
    fc
      .constantFrom(JSON.stringify(value), Object.is(value, -0) ? '-0.0e1' : value.toExponential())
      .map((text) => ({ text, value: Number(text), duplicate: false })),
  );
const anyBlank = fc.constantFrom('', '', '', ' ', '\n', '\t \r');

const { object: anyObject } = fc.letrec<{ object: Written; value: Written }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    anyNumber,
    fc.constantFrom<Written>(
      ...[true, false, null].map((value) => ({ text: String(value), value, duplicate: false })),
    ),
    anyString(fc.string({ unit: codePoint, maxLength: 20 })),
    tie('object'),
    fc.tuple(fc.array(tie('value'), { maxLength: 4 }), anyBlank).map(([items, blank]) => ({
      text: `[${blank}${items.map(({ text }) => text).join(`${blank},`)}]`,
      value: items.map(({ value }) => value),
      duplicate: items.some(({ duplicate }) => duplicate),
    })),
  ),
  object: fc
    .tuple(fc.array(fc.tuple(anyName, tie('value')), { maxLength: 5 }), anyBlank)
    .map(([members, blank]) => ({
      text: `{${blank}${members.map(([name, { text }]) => `${name.text}${blank}:${text}${blank}`).join(',')}}`,
      value: Object.fromEntries(members.map(([name, { value }]) => [name.value, value])),
      duplicate:
        new Set(members.map(([name]) => name.value)).size < members.length ||
        members.some(([, { duplicate }]) => duplicate),
    })),
}));

/** Earlier texts must not matter: these texts are parsed by one process, which has given all of them to V8 too. */
const POISON = fc.sample(anyObject, { numRuns: 200, seed: 21 });

test('a body has the value that was written, whatever was read before [B4; B7]', () => {
  for (const { text } of POISON) JSON.parse(text);
  fc.assert(
    fc.property(anyObject, ({ text, value }) => {
      assert.deepEqual(readJsonObject(text), { object: value });
    }),
    { numRuns: 2000 },
  );
});

test('claims are what was written, whatever was read before, or refused for a name that stands twice [A5]', () => {
  for (const { text } of POISON) JSON.parse(text);
  const header = Buffer.from('{"alg":"HS256"}').toString('base64url');
  fc.assert(
    fc.property(anyObject, ({ text, value, duplicate }) => {
      const read = readToken(`${header}.${Buffer.from(text).toString('base64url')}.c2lnbmF0dXJl`);
      if (duplicate) assert.equal('code' in read && read.code, 'claims-form');
      else assert.deepEqual('claims' in read && read.claims, value);
    }),
    { numRuns: 2000 },
  );
});

test('a value is the one that JSON.parse gives in a V8 that has parsed nothing else', async () => {
  const source = `const { parentPort, workerData } = require('node:worker_threads');
    parentPort.postMessage(JSON.stringify(JSON.parse(workerData)));`;
  const each = fc.sample(anyObject, { numRuns: 40 }).map(async ({ text }) => {
    const [expected] = await once(new Worker(source, { eval: true, workerData: text }), 'message');
    assert.equal(JSON.stringify(parsed(text)), expected, text);
  });
  await Promise.all(each);
});

const anyDigits = fc.oneof(
  fc.string({ unit: fc.constantFrom('0', '9', '5', '1'), maxLength: 25 }),
  fc.constantFrom('', '2147483647', '2147483648', '9007199254740991', '4503599627370497', '9'.repeat(20)),
);
const anyDecimal = fc.record({
  sign: fc.constantFrom('', '-'),
  whole: anyDigits.map((digits) => String(BigInt(digits))),
  fraction: fc.tuple(fc.nat(20), anyDigits).map(([zeros, digits]) => '0'.repeat(zeros) + digits),
  exponent: fc.option(fc.integer({ min: -50, max: 50 }), { nil: undefined }),
});

test('a number is an integer exactly if its digits say so, and a fraction keeps its integer part [B9]', () => {
  fc.assert(
    fc.property(anyDecimal, ({ sign, whole, fraction, exponent }) => {
      const point = fraction === '' ? '' : `.${fraction}`;
      const text = `${sign}${whole}${point}${exponent === undefined ? '' : `e${exponent}`}`;
      const value = Number(parsed(text));
      const scale = (exponent ?? 0) - fraction.length;
      const numerator = BigInt(whole + fraction) * 10n ** BigInt(Math.max(0, scale));
      const denominator = 10n ** BigInt(Math.max(0, -scale));
      if (numerator % denominator === 0n) assert.ok(Object.is(value, JSON.parse(text)), text);
      else assert.ok(!Number.isSafeInteger(value), text);
      const integerPart = numerator / denominator;
      if (integerPart < 2n ** 52n) assert.equal(BigInt(Math.trunc(Math.abs(value))), integerPart, text);
      if (value !== 0) assert.equal(value < 0, sign === '-', text);
      if (!Number.isSafeInteger(JSON.parse(text))) assert.equal(value, JSON.parse(text), text);
    }),
    { numRuns: 3000 },
  );
});

const WRITTEN: readonly (readonly [string, number])[] = [
  ['0.9999999999999999999', 0.9999999999999999],
  ['1.00000000000000001', 1.0000000000000002],
  ['-1.00000000000000001', -1.0000000000000002],
  ['2147483647.00000000001', 2147483647.0000002],
  ['2147483647.9999999999999', 2147483647.9999998],
  ['1e-400', Number.MIN_VALUE],
  ['-1e-400', -Number.MIN_VALUE],
  ['1e-99999999999999999999', Number.MIN_VALUE],
  ['0.01e-99999999999999999999', Number.MIN_VALUE],
  [`${'9'.repeat(500)}e-900`, Number.MIN_VALUE],
  ['10.00000000000000001E-1', 1.0000000000000002],
  ['1700000000.000000001', 1700000000.0000002],
  ['4503599627370497.5', 2 ** 53],
  ['-9007199254740990.5', -(2 ** 53)],
  ['0.1e1', 1],
  ['10E-1', 1],
  ['0.0e-999', 0],
  ['-0', -0],
  ['0e99999999999999999999', 0],
  ['1e999999999', Number.POSITIVE_INFINITY],
];

for (const [text, value] of WRITTEN) {
  test(`${text.slice(0, 40)} is read as ${value} [B9]`, () => assert.ok(Object.is(parsed(text), value)));
}

/** Texts with a character removed, added, or spelled as an escape where none may stand. */
const damaged = fc
  .tuple(
    fc.oneof(
      anyObject.map(({ text }) => text),
      fc.json({ maxDepth: 5 }),
    ),
    fc.nat(),
    fc.constantFrom('', 'escape', ',', '"', '}', ']', '0', '-', '.', 'e', '\\', '\\u', ' ', '\n', '\u0000'),
  )
  .map(([json, position, insert]) => {
    const at = position % (json.length + 1);
    const hex = json.charCodeAt(at).toString(16).padStart(4, '0');
    const inserted = insert === 'escape' ? `\\u${hex}` : insert;
    return json.slice(0, at) + inserted + json.slice(at + (insert === '' || insert === 'escape' ? 1 : 0));
  });

test('exactly what JSON.parse accepts is accepted, of generated and damaged texts [B4]', () => {
  fc.assert(
    fc.property(damaged, (text) => {
      let parses = true;
      try {
        JSON.parse(text);
      } catch {
        parses = false;
      }
      assert.equal('value' in parseJson(text), parses, JSON.stringify(text));
    }),
    { numRuns: 5000 },
  );
});

/** The column behind a text that begins in the first one, on one line. */
const columnBehind = (text: string) => [...text].length + 1;

test('a string names each control character that may not stand in it, and its place [B4]', () => {
  const anyControl = fc.integer({ min: 0, max: 0x1f }).map((code) => String.fromCharCode(code));
  fc.assert(
    fc.property(anyName, anyControl, anyName, (before, control, { text }) => {
      const begun = `{"😀": ${before.text.slice(0, -1)}`;
      const parsed = parseJson(`${begun}${control}${text.slice(1)}}`);
      assert.ok('fault' in parsed);
      const { problem, line, column } = parsed.fault;
      assert.deepEqual([line, column], [1, columnBehind(begun)]);
      assert.ok(problem.includes(` in a string must be written as ${JSON.stringify(control).slice(1, -1)}`));
    }),
  );
});

test('a string names an unknown escape without repeating it, and its place [B4]', () => {
  const anyUnknown = fc
    .string({ unit: codePoint, minLength: 1, maxLength: 1 })
    .filter((character) => !/["\\/bfnrtu]/.test(character));
  fc.assert(
    fc.property(anyName, anyUnknown, (before, unknown) => {
      const begun = `["😀", ${before.text.slice(0, -1)}`;
      const fault = { problem: UNKNOWN, line: 1, column: columnBehind(begun) };
      assert.deepEqual(parseJson(`${begun}\\${unknown}"]`), { fault });
    }),
  );
});

test('a text that ends inside a string says so, at its end [B4]', () => {
  fc.assert(
    fc.property(anyName, fc.nat(), ({ text }, cut) => {
      const begun = `["😀", ${text.slice(0, 1 + (cut % (text.length - 1)))}`;
      const parsed = parseJson(begun);
      assert.ok('fault' in parsed);
      const { problem, line, column } = parsed.fault;
      assert.ok(problem === CUT_STRING || problem === CUT_ESCAPE, problem);
      assert.deepEqual([line, column], [1, columnBehind(begun)]);
    }),
  );
});
