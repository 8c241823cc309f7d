import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { listen, temporaryFolder } from '../support/folder.ts';
import { quoted } from '../support/quoted.ts';
import { runCommand } from '../support/run-command.ts';
import { PROGRAM, startService } from '../support/start.ts';
import { type Draft, draft, forge, jwkOf, jwks, publicKey } from './forge.ts';
import { callerOf } from './trust.ts';

const folders = new AsyncDisposableStack();
after(() => folders.disposeAsync());
const folder = folders.use(await temporaryFolder());
const damaged = folders.use(await temporaryFolder());
await damaged.write('development-key.json', '{');

const DATA = ['--data-dir', folder.path];
const ISSUER = { TODO_AUTH_ISSUER: 'https://login.example.org', TODO_AUTH_AUDIENCE: 'todo-service' };
const SECRET_FILE = await folder.write('secret', 'text:a secret of more than thirty-two bytes');

function create(args: readonly string[], env: Record<string, string> = {}) {
  return runCommand(['token', 'create', '--name', 'ada', ...args], { env });
}

function verify(args: readonly string[], input: string, env: Record<string, string> = {}) {
  return runCommand(['token', 'verify', ...args, '-'], { env, input });
}

/** Made before anything else, so with a development key that it made. */
const { stdout: printed } = await create([...DATA, '--role', 'editor']);
const TOKEN = printed.trim();

test('token create prints a token and nothing else, which a development service accepts, made before it started or later', async () => {
  await using service = await startService({ environment: 'development', dataDir: folder.path });
  const later = await create([...DATA, '--role', 'editor']);
  assert.deepEqual([later.code, later.stderr], [0, '']);
  assert.match(later.stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  const { read, write } = callerOf(service.baseUrl);
  for (const token of [TOKEN, later.stdout.trim()]) {
    assert.deepEqual(await (await read(token, '/me')).json(), { name: 'ada' });
    assert.equal((await write(token)).status, 201);
  }
});

test('the claims of a token are those of the specification and the flags', async () => {
  const before = Math.floor(Date.now() / 1000);
  const { code, stdout, stderr } = await create([...DATA, '--output', 'json', '--role', 'editor']);
  assert.equal(code, 0, stderr);
  const { kid, ...header } = JSON.parse(stdout).header;
  assert.match(kid, /^development-/);
  assert.deepEqual(header, { alg: 'HS256', typ: 'JWT' });
  const { iat, nbf, exp, jti, ...others } = JSON.parse(stdout).claims;
  assert.deepEqual(others, {
    sub: 'ada',
    name: 'ada',
    role: 'editor',
    iss: 'urn:todo-service:development',
    aud: 'todo-service',
  });
  assert.ok(iat >= before && nbf === iat);
  assert.equal(exp - iat, 8 * 3600);
  assert.match(jti, /^[0-9a-f-]{36}$/);
});

test('a token of an issuer has the first audience, in the claim that is named, and the type that is asked for [A15]', async () => {
  const env = {
    ...ISSUER,
    TODO_AUTH_SECRET_FILE: SECRET_FILE,
    TODO_AUTH_AUDIENCE: 'first%2C1,second',
    TODO_AUTH_AUDIENCE_CLAIM: '/o/id',
    TODO_AUTH_EDITOR_ROLE: 'Todo-editors',
    TODO_AUTH_REQUIRED_CLAIMS: '/o/rol=x,!at_hash',
    TODO_AUTH_TOKEN_TYPE: 'at+jwt',
  };
  const args = ['--output', 'json', '--claim', 'o={"rol":"x","id":"y"}', '--role', 'Todo-editors'];
  const { code, stdout, stderr } = await create(args, env);
  assert.equal(code, 0, stderr);
  const { header, claims, token } = JSON.parse(stdout);
  assert.deepEqual(claims.o, { rol: 'x', id: 'first,1' });
  assert.equal('aud' in claims, false);
  assert.equal(header.typ, 'at+jwt');
  const verified = await verify([], token, env);
  assert.equal(verified.code, 0, verified.stdout);
  assert.match(verified.stdout, /^ok {5}.*may write +yes$/m);
  const two = await create(['--output', 'json'], { ...env, TODO_AUTH_AUDIENCE_CLAIM: '' });
  assert.equal(JSON.parse(two.stdout).claims.aud, 'first,1');
});

test('a development token is taken whatever settings of an issuer say, but for its issuer [A15]', async () => {
  const env = {
    TODO_AUTH_AUDIENCE_CLAIM: 'client_id',
    TODO_AUTH_REQUIRED_CLAIMS: 'token_use=access',
    TODO_AUTH_EDITOR_ROLE: 'Todo-editors',
    TODO_AUTH_TOKEN_TYPE: 'at+jwt',
  };
  const { code, stdout } = await verify(['--environment', 'development', ...DATA], TOKEN, env);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^ok {5}may write {2}yes$/m);
  assert.doesNotMatch(stdout, /required|audience claim|type/);
});

for (const [args, says] of [
  [['create', '--nmae', 'ada'], /--nmae.*\nRun "todo-service token create --help" for the flags\.\n$/],
  [
    ['create', ...DATA, '--name', 'a'.repeat(12_000)],
    /^The token must have at most 12288 bytes, received \d+ bytes/,
  ],
  [['verify'], /token verify --help/],
  [['verify', 'a', 'b'], /token verify --help/],
  [['verify', '--port', '1', 'a'], /token verify --help/],
] as const) {
  test(`token ${quoted(args.join(' ')).slice(0, 40)} is wrong usage: 2, a sentence and where to find help`, async () => {
    const { code, stdout, stderr } = await runCommand(['token', ...args]);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, says);
  });
}

for (const [args, env, says] of [
  [
    ['token', 'create', '--name', 'ada'],
    { TODO_AUTH_ISSUER: 'https://login.example.org' },
    /^Cannot make a token: TODO_AUTH_\* names an issuer, and only that issuer can sign for it/,
  ],
  [
    ['token', 'create', '--name', 'ada'],
    { TODO_AUTH_ISSUER: 'https://login.example.org', TODO_AUTH_SECRET_FILE: '/does/not/exist' },
    /^Cannot make a token, .*\n {2}TODO_AUTH_AUDIENCE must be .*\n {2}TODO_AUTH_SECRET_FILE must /,
  ],
  [
    ['token', 'verify', 'x'],
    { TODO_AUTH_CLOCK_TOLERANCE: 'x' },
    /TODO_AUTH_ISSUER.*\n.*TODO_AUTH_AUDIENCE.*\n.*TODO_AUTH_CLOCK_TOLERANCE/,
  ],
  [
    ['token', 'create', '--name', 'ada', '--data-dir', damaged.path],
    {},
    /The development key ".*" cannot be used: .*Restore the file, or delete it/,
  ],
  [
    ['serve', '--environment', 'development', '--port', '0', '--data-dir', join(SECRET_FILE, 'no-folder')],
    { TODO_DATABASE: `sqlite:${join(folder.path, 'todos.db')}` },
    /^Cannot start[^\n]*\n(?: {2}[^\n]*\n)*$/,
  ],
] as const) {
  test(`what is wrong with the configuration is said by ${args.slice(0, 2).join(' ')}, with 78 and no stack: ${says}`, async () => {
    const { code, stdout, stderr } = await runCommand(args, { env });
    assert.deepEqual([code, stdout], [78, ''], stderr);
    assert.match(stderr, says);
    assert.doesNotMatch(stderr, /\n\s+at /);
  });
}

test('neither command looks at settings that it does not use', async () => {
  const unused = {
    TODO_PORT: 'http',
    TODO_LOG_LEVEL: 'loud',
    TODO_DATABASE: 'mysql://db',
    TODO_PROFILE: 'x',
  };
  const made = await create(DATA, { ...unused, TODO_AUTH_CLOCK_TOLERANCE: 'x' });
  assert.deepEqual([made.code, made.stderr], [0, '']);
  const verified = await verify(['--environment', 'development', ...DATA], made.stdout, unused);
  assert.equal(verified.code, 0);
});

test('token create warns when the environment is production, on standard error', async () => {
  const { code, stdout, stderr } = await create(DATA, { TODO_ENVIRONMENT: 'production' });
  assert.equal(code, 0);
  assert.match(stdout, /^[\w.-]+\n$/);
  assert.match(stderr, /a service in production refuses this token/);
});

test('token verify explains a good token check by check, from standard input too', async () => {
  const flags = ['--environment', 'development', ...DATA];
  const { code, stdout } = await verify(flags, `${TOKEN}\n`);
  assert.equal(code, 0);
  assert.match(stdout, /^ok {5}form .*\nok {5}key .*\nok {5}signature .*\nok {5}issuer /);
  assert.match(
    stdout,
    /ok {5}name {7}"ada"\nok {5}roles {6}"editor"\nok {5}may write {2}yes\nThe token is accepted\.\n$/,
  );
  const asOperand = await runCommand(['token', 'verify', ...flags, TOKEN]);
  assert.equal(asOperand.stdout.split('\n').length, stdout.split('\n').length);
});

for (const [what, env, args, says] of [
  [
    'another data folder',
    {},
    ['--environment', 'development', '--data-dir', 'x'],
    /^FAILED key .*which is not there yet/m,
  ],
  [
    'production',
    { ...ISSUER, TODO_AUTH_SECRET_FILE: SECRET_FILE },
    DATA,
    /FAILED signature[\s\S]*FAILED issuer .*a development token, which only development accepts/,
  ],
] as const) {
  test(`token verify in ${what} refuses a development token, says why, and ends with 1`, async () => {
    const { code, stdout } = await verify(args, TOKEN, env);
    assert.equal(code, 1);
    assert.match(stdout, says);
    assert.match(stdout, /The token is refused: 401\.\n$/);
  });
}

test('token verify says 503 when the issuer cannot be reached', async () => {
  const { code, stdout, stderr } = await verify([], TOKEN, {
    ...ISSUER,
    TODO_AUTH_ISSUER: 'http://127.0.0.1:9',
  });
  assert.equal(code, 1);
  assert.match(stdout, /there are no keys: 503\.\n$/);
  assert.doesNotMatch(stderr, /[{}]/);
});

/** What an issuer publishes, the token, and why there are no keys for it. */
const NO_KEYS: readonly (readonly [string, object, Draft, string])[] = [
  [
    '51 keys',
    { keys: Array.from({ length: 51 }, (_, at) => jwkOf(publicKey('ed'), `ed-${at}`)) },
    draft('ed'),
    ': it must have at most 50 keys, received 51',
  ],
  ['more than 512 KiB', { ...jwks(), pad: 'x'.repeat(524_288) }, draft(), ': URL answered more than 512 KiB'],
  [
    'no key, for a token by HMAC',
    { keys: [] },
    draft('secret'),
    ': it must have a key that verifies signatures; the token is signed with a shared secret: TODO_AUTH_SECRET_FILE names ' +
      'a file with it ("text:" for a secret that is used as it is written)',
  ],
];

for (const [what, document, made, says] of NO_KEYS) {
  test(`token verify says why an issuer that publishes ${what} has no keys`, async () => {
    const server = createServer((_request, response) => response.end(JSON.stringify(document)));
    const url = `http://127.0.0.1:${await listen(server)}/jwks`;
    const { code, stdout, stderr } = await verify([], forge(made), { ...ISSUER, TODO_AUTH_JWKS_URL: url });
    server.close();
    assert.equal(code, 1);
    // Neither process nor host.
    assert.match(stderr, /^[\d:.]+ WARN {2}no keys from [^=]+ {2}source=\S+ {2}reason=".+"\n$/);
    const line = stdout.split('\n')[1] ?? '';
    assert.equal(line.replaceAll(url, 'URL'), `FAILED key        no keys could be had from URL${says}`);
  });
}

test('token verify refuses an input without an end', async () => {
  const args = [PROGRAM, 'token', 'verify', '--environment', 'development', '-'];
  await using input = await open('/dev/zero');
  const child = spawn(process.execPath, args, { stdio: [input.fd, 'pipe', 'inherit'] });
  assert.ok(child.stdout);
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  assert.equal(code, 1);
  assert.match(said, /^FAILED form .*\n[\s\S]*The token is refused: 401\.\n$/);
});
