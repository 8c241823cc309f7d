import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { admitsProblem, jsonTypeFault } from './media-type.ts';

const accepted = [
  'application/json;',
  'application/json; v=1; x="a;charset=latin1"',
  'application/json;a=";q=0;"',
  `application/json${'; '.repeat(8_000)}`,
  'application/vnd.example.v1+json; charset=utf-8',
  'application/json; charset=utf8',
  'application/json;Charset="UTF8"; charset=utf-8',
  ' \tAPPLICATION/Json\t ;\tcharset=utf-8 \t',
  'application/json;a="\\";charset=latin1;";b=1',
  'application/json;a="\\\\";charset=utf-8',
  'application/json;x=latin1',
];

const refused = {
  missing: [undefined, ''],
  type: [
    'application/+json',
    'application/json charset=utf-8',
    'application/json; charset',
    'application/json; charset=',
    'application/json;q',
    'text/plain; charset=latin1',
    'text/json',
    'text/example+json',
    'application/jsons',
    'application/javascript',
    'x application/json',
    'a/application/json',
    'application/json/a',
    'application/json; x charset=utf-8',
    'application/json; charset=utf-8 x',
    'application/json; "a"=b',
    'application/json; a="b"c',
    'json',
    ' ',
    ';charset=utf-8',
    `application/json${'; '.repeat(8_000)}!`,
    `application/json;a="${'\\'.repeat(8_001)}`,
  ],
  charset: [
    'application/json; charset=utf-8; charset=latin1',
    'application/json; charset=""',
    'application/json; charset=utf--8',
    'application/json; charset=utf-80',
    'application/json; charset="utf-80"',
    'application/json; charset=xutf-8',
    'application/json; charset="xutf-8"',
  ],
} as const;

for (const type of accepted) {
  test(`${name(type)} is JSON in UTF-8 [B2]`, () => assert.equal(jsonTypeFault(type), undefined));
}
for (const [fault, types] of Object.entries(refused)) {
  for (const type of types) {
    test(`${name(type)} is not JSON in UTF-8, by its ${fault} [B2]`, () => {
      assert.equal(jsonTypeFault(type), fault);
    });
  }
}

function name(type: string | undefined): string {
  return JSON.stringify(type?.slice(0, 50) ?? 'nothing');
}

const admitted: readonly (string | undefined)[] = [
  undefined,
  '',
  ' ',
  'application/hal+json',
  'application/json;q=q=0',
  'application/json;v="a,b"',
  'application/json;a=";q=0;"',
  'application/json ; q=0.5 ',
  'application/json;q="0"',
  'application/*;v=1',
  'text/html,,application/json',
  '*',
  '*/json',
  // The `Accept` that JDKs before 9 send by default.
  'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2',
  'text/html, */*;q=1.0000',
];

const notAdmitted: readonly string[] = [
  'application/+json',
  'application/hal+json;q=0',
  'application/json;q=0, application/problem+json;q=0, */*',
  'text/html;a="application/json"',
  'text/html;a=",application/json,"',
  'application/json;Q=0',
  'application/json;q=.00',
  'text/html;q=2',
  'text/html;q=abc',
  'text/html;q=0.1234',
  'text/html;q',
  'text/hal+json',
  'text/html, */json',
  'text/html, application/json;x q=5',
  'text/html, application/json;qx',
];

for (const accept of admitted) {
  test(`Accept ${JSON.stringify(accept) ?? 'missing'} admits a problem [N1]`, () => {
    assert.equal(admitsProblem(accept), true);
  });
}

for (const accept of notAdmitted) {
  test(`Accept ${JSON.stringify(accept)} does not admit a problem [N1]`, () => {
    assert.equal(admitsProblem(accept), false);
  });
}

test('members that are no ranges are passed over one by one [N1]', () => {
  assert.equal(admitsProblem(`${'x,'.repeat(1000)}text/html`), false);
});

/** Weights as they are sent, in the grammar and outside of it, and whether each is a number that is 0. */
const weights: fc.Arbitrary<readonly [parameter: string, isZero: boolean]> = fc.oneof(
  fc.constant(['', false] as const),
  fc
    .tuple(fc.constantFrom('q', 'Q'), fc.stringMatching(/^(?:\d{1,4}(?:\.\d{0,6})?|\.\d{1,6})$/))
    .map(([q, number]) => [`;${q}=${number}`, !/[1-9]/.test(number)] as const),
  fc.constantFrom('0', '0.', '0.000', '.0', '00', '0.0000').map((zero) => [` ;\tq=${zero}`, true] as const),
  fc
    .constantFrom(
      '',
      '=',
      '= ',
      '=high',
      '=-1',
      '=-0',
      '=+0',
      '=0x0',
      '=0e0',
      '=0 5',
      '="0"',
      '=.',
      '=0.0.0',
      '=1/2',
      '=½',
    )
    .map((value) => [`; q${value}`, false] as const),
);

const ranges = fc.array(
  fc.record({
    range: fc.constantFrom(
      ...['*/*', 'application/*', 'application/json', 'application/problem+json', 'application/hal+json'],
      ...['text/html', 'image/gif', 'APPLICATION/Json', 'application/xml'],
    ),
    parameter: fc.constantFrom('', ';v=1', '; level="a,b;q=0"', ';'),
    weight: weights,
  }),
  { minLength: 1, maxLength: 5 },
);

/** Contract N1 on known ranges: the most specific one decides, and a weight of 0 excludes. */
function oracle(several: readonly { readonly range: string; readonly weight: readonly [string, boolean] }[]) {
  const known = several.map(({ range, weight: [, isZero] }) => ({ range: range.toLowerCase(), isZero }));
  const admitsType = (type: string) => {
    const [own] = [type, 'application/*', '*/*']
      .map((wanted) => known.filter(({ range }) => range === wanted))
      .filter((matching) => matching.length > 0);
    return own?.some(({ isZero }) => !isZero) ?? false;
  };
  const suffixed = known.some(({ range, isZero }) => range === 'application/hal+json' && !isZero);
  return suffixed || admitsType('application/json') || admitsType('application/problem+json');
}

test('a weight outside of the grammar is the number that it looks like, or 1, and discards nothing [N1]', () => {
  fc.assert(
    fc.property(ranges, fc.constantFrom(',', ', ', ' ,, '), (several, comma) => {
      const accept = several.map(({ range, parameter, weight }) => `${range}${parameter}${weight[0]}`);
      assert.equal(admitsProblem(accept.join(comma)), oracle(several), accept.join(comma));
    }),
    { numRuns: 2_000 },
  );
});

test('a weight is 0 only when all of its digits are, however many [N1]', () => {
  const zeros = '0'.repeat(8_000);
  assert.equal(admitsProblem(`*/*;q=0.${zeros}`), false);
  assert.equal(admitsProblem(`*/*;q=0.${zeros}1`), true);
  assert.equal(admitsProblem(`text/html, */*;q=9${zeros}`), true);
});

const HOSTILE = [
  ...['; ', ' ;', ';\t', '"', '\\', 'a=', ';a="', ';a="\\', ',', '/', ' ', ';q=', '*/*;', 'a/b,'],
  ...[';q', ' q', ';q =', 'q=.', ';q=0', '0', '.', ';q="', ';Q=\t'],
];

test('hostile repeats, as long as a head may be, are read in one go [N1]', () => {
  const half = 8 * 1024;
  for (const one of HOSTILE) {
    for (const other of HOSTILE) {
      const repeats = one.repeat(half / one.length) + other.repeat(half / other.length);
      assert.equal(admitsProblem(`text/html, a/b${repeats}\u00e9`), false, `${one} ${other}`);
    }
  }
});
