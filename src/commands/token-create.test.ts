import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quoted } from '../../test/support/quoted.ts';
import { readFlags } from './command.ts';
import { readTokenRequest, signToken, TOKEN_CREATE } from './token-create.ts';

const SIGNER = {
  issuer: 'urn:todo-service:development',
  audience: 'todo-service',
  keyId: 'development-0',
  secret: Buffer.alloc(32),
};

/** Seconds since 1970. */
const NOW = 1_795_247_826.9;

function request(argv: readonly string[]) {
  const flags = readFlags(TOKEN_CREATE, argv);
  assert.ok(flags);
  return readTokenRequest(flags);
}

/** The claims of the token that these flags ask for. */
async function claimsOf(...argv: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  return signToken(request(argv), SIGNER, NOW).claims;
}

test('one role is a string, several are a list, none is no claim', async () => {
  assert.equal((await claimsOf('--name', 'a', '--role', 'editor')).role, 'editor');
  assert.deepEqual((await claimsOf('--name', 'a', '--role', 'x', '--role', 'editor')).role, ['x', 'editor']);
  assert.equal('role' in (await claimsOf('--name', 'a')), false);
});

for (const [text, seconds] of [
  ['45s', 45],
  ['30m', 1800],
  ['8h', 28_800],
  ['7d', 604_800],
  ['3650d', 315_360_000],
] as const) {
  test(`a lifetime of ${text} is ${seconds} seconds from a whole second on`, async () => {
    const { iat, nbf, exp } = await claimsOf('--name', 'ada', '--lifetime', text);
    assert.deepEqual([iat, nbf, exp], [1_795_247_826, 1_795_247_826, 1_795_247_826 + seconds]);
  });
}

test('without --lifetime a token lives for eight hours', async () => {
  assert.equal((await claimsOf('--name', 'ada')).exp, 1_795_247_826 + 8 * 3600);
});

test('no claim changes what a name with escapes means in a later one', async () => {
  const more = [String.raw`a={"h":[],"ti\\u0":0}`, String.raw`b={"h":"","ti\u0074le":1}`];
  const claims = await claimsOf('--name', 'ada', ...more.flatMap((text) => ['--claim', text]));
  assert.deepEqual(claims.b, { h: '', title: 1 });
});

test('more claims are strings, or JSON when they begin like JSON', async () => {
  const more = [
    'team=a=b',
    'level=7',
    'realm_access={"roles":["editor"]}',
    'groups=["a","b"]',
    'empty=',
    '__proto__=x',
  ];
  const claims = await claimsOf('--name', 'ada', ...more.flatMap((text) => ['--claim', text]));
  assert.equal(claims.team, 'a=b');
  assert.equal(claims.level, '7');
  assert.equal(claims.empty, '');
  assert.deepEqual(claims.realm_access, { roles: ['editor'] });
  assert.deepEqual(claims.groups, ['a', 'b']);
  assert.equal(Object.getOwnPropertyDescriptor(claims, '__proto__')?.value, 'x');
});

const WRONG: readonly (readonly [string[], RegExp])[] = [
  [[], /^--name must be/],
  [['--name', ''], /^--name must be/],
  [['--name', ' \t'], /^--name must be the name of somebody/],
  [
    ['--name', 'a', '--role', 'reader,editor'],
    /^--role must be one role, repeated for several, received "reader,editor"/,
  ],
  [['--name', 'a', '--role', ''], /^--role must be one role/],
  [
    ['--name', 'a', '--lifetime', '0s'],
    /^--lifetime must be like 45s, 30m, 8h or 7d, at most 3650d, received "0s"/,
  ],
  [['--name', 'a', '--lifetime', '8'], /^--lifetime must/],
  [['--name', 'a', '--lifetime', '3651d'], /^--lifetime must/],
  [['--name', 'a', '--lifetime=-1h'], /^--lifetime must/],
  [['--name', 'a', '--claim', 'x'], /^--claim must be KEY=VALUE, received "x"/],
  [['--name', 'a', '--claim', '=x'], /^--claim must be KEY=VALUE/],
  [['--name', 'a', '--claim', 'exp=1'], /^--claim must not be one that every token has .*received "exp"/],
  [
    ['--name', 'a', '--claim', 'x=1', '--claim', 'x=2'],
    /^--claim must name each claim once, received "x" twice/,
  ],
  [['--name', 'a', '--claim', 'x={'], /^--claim with a value that begins with \{ or \[ must be JSON/],
  [['--name', 'a', '--output', 'yaml'], /^--output must be "token" or "json", received "yaml"/],
];

for (const [args, says] of WRONG) {
  test(`token create ${quoted(args.join(' '))} is wrong usage`, () => {
    assert.throws(() => request(args), { name: 'WrongUsage', message: says });
  });
}
