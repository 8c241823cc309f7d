import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { authenticateWith } from '../../src/auth/admit.ts';
import { parseRequiredClaim } from '../../src/auth/required-claims.ts';
import { examineToken } from '../../src/commands/explain/examine.ts';
import { readList } from '../../src/lib/list-setting.ts';
import { draft, forge } from './forge.ts';
import { secretKeys, TRUST } from './trust.ts';

const TEXTS = [
  ...[
    '',
    'a',
    'b',
    '=',
    ',',
    '%',
    '%2C',
    '%252C',
    '#',
    ' ',
    '/',
    '~',
    '~1',
    '!',
    '0',
    '1',
    '-',
    'ä',
    '\u0000',
  ],
  ...[
    '__proto__',
    'constructor',
    'length',
    'toString',
    'true',
    'false',
    'null',
    '9007199254740993',
    '1e3',
    'NaN',
  ],
];

const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TEXTS) },
  fc.array(fc.constantFrom(...TEXTS), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
);

/** JSON text, for numbers that no value spells, and members named `__proto__`. */
const scalar = fc.oneof(
  text.map((value) => JSON.stringify(value)),
  fc.constantFrom('true', 'false', 'null', '0', '-0', '1', '-1', '1.5', '1e3', '1e999', '9007199254740991'),
  fc.constantFrom('9007199254740992', '9007199254740993', '-9007199254740993', '123456789012345678901'),
);

const { value: json } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }).map((members) => `[${members.join(',')}]`),
    membersOf(tie('value'), 3),
  ),
}));

function membersOf(value: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> {
  return fc
    .uniqueArray(fc.tuple(text, value), { maxLength, selector: ([name]) => name })
    .map((members) => `{${members.map(([name, one]) => `${JSON.stringify(name)}:${one}`).join(',')}}`);
}

/** A claim's name or the path of a pointer, and the text that is asked for; null: it must not be there. */
const requirement = fc.oneof(
  fc.record({
    path: fc.oneof(
      text.filter((name) => name !== '' && !name.startsWith('/')).map((name) => [name]),
      fc.array(text, { minLength: 1, maxLength: 3 }),
    ),
    value: text.filter((value) => value !== ''),
  }),
  fc.record({
    path: fc.oneof(
      fc.stringMatching(/^[a-zA-Z0-9_.:#-]{1,3}$/).map((name) => [name]),
      fc.array(text.filter(isForbiddable), { minLength: 1, maxLength: 3 }),
    ),
    value: fc.constant(null),
  }),
);

interface Requirement {
  readonly path: readonly string[];
  readonly value: string | null;
}

/** A name that may stand behind `!`, in a pointer. */
function isForbiddable(name: string): boolean {
  return /^[A-Za-z0-9_.:#/~-]+$/.test(name);
}

/** What somebody writes who wants that, by the contract's words. */
function written({ path, value }: Requirement): string {
  const isName =
    path.length === 1 && path[0] !== '' && !(value === null ? /[/~]/ : /^[/!]/).test(path[0] ?? '');
  const pointer = path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  const name = escaped(isName ? String(path[0]) : pointer);
  return value === null ? `!${name}` : `${name}=${escaped(value)}`;
}

function escaped(text: string): string {
  return text.replaceAll(/[%, =#]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Contract A14 as it reads, over entries and not over properties: nothing is inherited here. */
function holds(claims: unknown, { path, value }: Requirement): boolean {
  let found: unknown = claims;
  for (const name of path) {
    if (typeof found !== 'object' || found === null) return value === null;
    const isIndex = !Array.isArray(found) || String(Number.parseInt(name, 10)) === name;
    const member = new Map<string, unknown>(Object.entries(found)).get(name);
    if (member === undefined || !isIndex) return value === null;
    found = member;
  }
  if (value === null) return false;
  return (Array.isArray(found) ? found : [found]).some((one: unknown) => {
    if (typeof one === 'string') return one === value;
    if (typeof one === 'boolean') return (one ? 'true' : 'false') === value;
    const isExact = typeof one === 'number' && Math.trunc(one) === one && Math.abs(one) < 2 ** 53;
    return isExact && JSON.stringify(one) === value;
  });
}

/** What `holds` is told: by `JSON.parse`, which the service does not use. */
function parsed(claims: string): unknown {
  return JSON.parse(claims);
}

/** Claims of a good token, and these. */
function withOwn(claims: string): string {
  const own = JSON.stringify(draft('secret').claims);
  return claims === '{}' ? own : `${own.slice(0, -1)},${claims.slice(1)}`;
}

/** A requirement about what stands somewhere in the claims: what its text is, as somebody may write it. */
function aimAt(claims: unknown, picks: readonly number[]): Requirement | undefined {
  const path: string[] = [];
  let found: unknown = claims;
  for (const pick of picks) {
    const members = Object.entries(Object(found));
    if (typeof found !== 'object' || members.length === 0) break;
    const [name, member] = members[pick % members.length] ?? ['', undefined];
    if (!Array.isArray(found)) path.push(name);
    found = member;
  }
  const value = typeof found === 'string' ? found : JSON.stringify(found);
  return path.length === 0 || value === '' ? undefined : { path, value };
}

test('the verdict on required claims is that of a plain oracle, and token verify has the same [A14]', async () => {
  let accepted = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(
      membersOf(json, 5),
      fc.array(requirement, { minLength: 1, maxLength: 2 }),
      fc.array(fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), { maxLength: 3 }),
      async (more, random, picks) => {
        const aimed = picks.flatMap((one) => aimAt(parsed(more), one) ?? []);
        const requirements = aimed.length > 0 ? aimed : random;
        const setting = requirements.map(written).join(',');
        const { entries, malformed } = readList(setting, parseRequiredClaim);
        assert.deepEqual(malformed, [], setting);
        const trust = { ...TRUST, requiredClaims: entries, keys: secretKeys(), now: Date.now };
        const all = withOwn(more);
        const token = forge(draft('secret'), { claims: all });
        const wanted = requirements.every((one) => holds(parsed(all), one));
        const authentication = await authenticateWith(trust)(`Bearer ${token}`);
        assert.equal(authentication.code, wanted ? 'accepted' : 'required-claim', setting);
        const { verdict, lines } = await examineToken(token, trust);
        assert.equal(verdict, wanted ? 'accepted' : 'refused');
        assert.equal(lines.find(({ check }) => check === 'required')?.result, wanted ? 'ok' : 'failed');
        if (wanted) accepted += 1;
        else refused += 1;
      },
    ),
    { numRuns: 2000 },
  );
  assert.ok(accepted > 150 && refused > 150, `accepted ${accepted}, refused ${refused}`);
});

test('no other claim makes a requirement hold, and none takes it away [A14]', async () => {
  await fc.assert(
    fc.asyncProperty(membersOf(json, 4), requirement, async (more, one) => {
      const [first = ''] = one.path;
      const claims = new Map(Object.entries(Object(parsed(more))));
      claims.delete(first);
      const without = Object.fromEntries(claims);
      assert.equal(verdictOn(JSON.stringify(without), one), one.value === null);
    }),
    { numRuns: 1000 },
  );
});

function verdictOn(claims: string, one: Requirement): boolean {
  const { entries } = readList(written(one), parseRequiredClaim);
  const trust = { ...TRUST, requiredClaims: entries, keys: secretKeys(), now: Date.now };
  const token = forge(draft('secret'), { claims: withOwn(claims) });
  const authentication = authenticateWith(trust)(`Bearer ${token}`);
  return 'code' in authentication && authentication.code === 'accepted';
}

test('a fraction that a double would round to an integer is no text, and as a time it is as good as any [A5; A14]', () => {
  for (const fraction of ['1.00000000000000001', '0.9999999999999999999'])
    assert.equal(verdictOn(`{"level":${fraction}}`, { path: ['level'], value: '1' }), false, fraction);
  for (const integer of ['1', '1.0', '10e-1'])
    assert.equal(verdictOn(`{"level":${integer}}`, { path: ['level'], value: '1' }), true, integer);
  const times = '{"nbf":1700000000.000000001,"level":1}';
  assert.equal(verdictOn(times, { path: ['level'], value: '1' }), true);
});

/** Any text at all, mostly near to what is right. */
const setting = fc
  .array(
    fc.constantFrom(
      ...['a', 'b', '=', ',', '!', '%', '2C', '20', '/', '~', '~1', '#'],
      ...[' ', '\t', '\u00a0', '\u0085', '\u200b'],
      ...['https://', '%23', ':', '.', '-', '_', 'Z', '7', 'é', '"', ';', '|', '$'],
    ),
    { maxLength: 9 },
  )
  .map((parts) => parts.join(''));

test('a text is a list of required claims where a plain reading of the contract says so [A13; A14]', () => {
  fc.assert(
    fc.property(setting, (text) => {
      const { entries, malformed } = readList(text, parseRequiredClaim);
      assert.deepEqual(
        malformed,
        text.split(',').filter((entry) => !isRequiredClaim(entry)),
      );
      assert.equal(entries.length + malformed.length, text.split(',').length);
    }),
    { numRuns: 20_000 },
  );
});

function isRequiredClaim(entry: string): boolean {
  const isForbidden = entry.startsWith('!');
  const parts = (isForbidden ? entry.slice(1) : entry).split('=');
  if (parts.length !== (isForbidden ? 1 : 2)) return false;
  const isStray = (character = '') => /[\s\u0085\u200b]/.test(character);
  if (parts.some((part) => part === '' || isStray(part.at(0)) || isStray(part.at(-1)))) return false;
  if (
    parts.some((part) =>
      part
        .split('%')
        .slice(1)
        .some((rest) => !/^(?:2C|3D|25|20|23)/.test(rest)),
    )
  )
    return false;
  const [name = ''] = parts;
  if (isForbidden) return isForbiddenName(name);
  if (/[\s\u0085\u200b]#/.test(name)) return false;
  return (
    !name.startsWith('/') ||
    name
      .split('~')
      .slice(1)
      .every((rest) => /^[01]/.test(rest))
  );
}

/** A name behind `!`, letter by letter: a pointer, or a name that may begin with the scheme of an address. */
function isForbiddenName(name: string): boolean {
  const isPointer = name.startsWith('/');
  const [scheme = '', ...rest] = name.split('://');
  const hasScheme =
    rest.length > 0 && scheme !== '' && [...scheme].every((letter) => letter >= 'a' && letter <= 'z');
  const segments = (hasScheme ? rest.join('://') : name.slice(isPointer ? 1 : 0)).split('/');
  return segments.every((segment) => {
    const plain = segment.replaceAll('%23', '').replaceAll(isPointer ? /~[01]/g : '%23', '');
    return (
      segment !== '' &&
      [...plain].every(
        (letter) =>
          'abcdefghijklmnopqrstuvwxyz0123456789_-.:'.includes(letter.toLowerCase()) && letter <= '~',
      )
    );
  });
}

/** Claims as JSON, what is required, and whether it holds. */
const VERDICTS: readonly (readonly [string, string, boolean])[] = [
  ['{"a":null}', '!a', false],
  ['{"a":[]}', '!a', false],
  ['{"a":""}', '!a', false],
  ['{"o":{"a":null}}', '!/o/a', false],
  ['{"o":null}', '!/o/a', true],
  ['{"o":"a"}', '!/o/0', true],
  ['{"o":["a"]}', '!/o/0', false],
  ['{"o":["a"]}', '!/o/length', true],
  ['{}', '!constructor', true],
  ['{"__proto__":{"a":"b"}}', 'a=b', false],
  ['{"__proto__":{"a":"b"}}', '/__proto__/a=b', true],
  ['{"__proto__":1}', '!__proto__', false],
  ['{"a":["b",null,{},["c"]]}', 'a=b', true],
  ['{"a":["b",null,{},["c"]]}', 'a=c', false],
  ['{"a":["b","c"]}', 'a=b,a=c', true],
  ['{"a":"b"}', 'a=b,a=c', false],
  ['{"a":"b,c"}', 'a=b', false],
  ['{"a":"b,c"}', 'a=b%2Cc', true],
  ['{"a":true}', 'a=true', true],
  ['{"a":"true"}', 'a=true', true],
  ['{"a":1}', 'a=1', true],
  ['{"a":1}', 'a=true', false],
  ['{"a":9007199254740991}', 'a=9007199254740991', true],
  ['{"a":9007199254740992}', 'a=9007199254740992', false],
  ['{"a":9007199254740993}', 'a=9007199254740992', false],
  ['{"a":1.5}', 'a=1.5', false],
  ['{"a":null}', 'a=null', false],
  ['{"a":{"b":true}}', 'a=b', false],
  ['{"A":"b"}', 'a=b', false],
  ['{"a":"B"}', 'a=b', false],
  ['{"a":" b"}', 'a=b', false],
  ['{"x":"a=b"}', 'a=b', false],
];

for (const [claims, text, holds] of VERDICTS) {
  test(`${claims} ${holds ? 'has' : 'lacks'} what ${text} requires [A14]`, () => {
    const { entries } = readList(text, parseRequiredClaim);
    const trust = { ...TRUST, requiredClaims: entries, keys: secretKeys(), now: Date.now };
    const authentication = authenticateWith(trust)(
      `Bearer ${forge(draft('secret'), { claims: withOwn(claims) })}`,
    );
    assert.equal('code' in authentication && authentication.code, holds ? 'accepted' : 'required-claim');
  });
}
