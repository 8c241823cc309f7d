import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../folder.ts';
import { runProgram, startService } from '../start.ts';

interface Made {
  readonly token: string;
  readonly header: Record<string, unknown>;
  readonly claims: Record<string, unknown>;
}

async function create(dataDir: string, ...args: readonly string[]) {
  return runProgram(['token', 'create', '--data-dir', dataDir, ...args]);
}

/** What `--output json` prints. */
async function made(...args: readonly string[]): Promise<Made> {
  await using folder = await temporaryFolder();
  const { code, stdout, stderr } = await create(folder.path, '--output', 'json', ...args);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

test('token create prints a token and nothing else, which a development service accepts', async () => {
  await using folder = await temporaryFolder();
  const { code, stdout, stderr } = await create(folder.path, '--name', 'ada', '--role', 'editor');
  assert.equal(code, 0);
  assert.equal(stderr, '');
  assert.match(stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  await using service = await startService({ environment: 'development', dataDir: folder.path });
  const authorization = `Bearer ${stdout.trim()}`;
  const me = await fetch(`${service.baseUrl}/me`, { headers: { authorization } });
  assert.deepEqual(await me.json(), { name: 'ada' });
  const headers = { authorization, 'content-type': 'application/json' };
  const body = '{"title":"Water the plants","categoryId":1}';
  assert.equal((await fetch(`${service.baseUrl}/todos`, { method: 'POST', headers, body })).status, 201);
});

test('a token that is made while the service runs is accepted too', async () => {
  await using service = await startService({ environment: 'development' });
  const { stdout } = await create(service.dataDir, '--name', 'ada');
  const headers = { authorization: `Bearer ${stdout.trim()}` };
  assert.equal((await fetch(`${service.baseUrl}/todos`, { headers })).status, 200);
});

test('the claims of a token are those of the specification and the flags', async () => {
  const before = Math.floor(Date.now() / 1000);
  const { header, claims } = await made('--name', 'ada', '--role', 'editor');
  const { kid, ...rest } = header;
  assert.match(String(kid), /^development-/);
  assert.deepEqual(rest, { alg: 'HS256', typ: 'JWT' });
  const { iat, nbf, exp, jti, ...others } = claims;
  assert.deepEqual(others, {
    sub: 'ada',
    name: 'ada',
    role: 'editor',
    iss: 'urn:todo-service:development',
    aud: 'todo-service',
  });
  assert.ok(Number(iat) >= before && nbf === iat);
  assert.equal(Number(exp) - Number(iat), 8 * 3600);
  assert.match(String(jti), /^[0-9a-f-]{36}$/);
});

test('wrong usage ends with 2, a sentence and where to find help', async () => {
  const { code, stdout, stderr } = await runProgram(['token', 'create', '--nmae', 'ada']);
  assert.equal(code, 2);
  assert.equal(stdout, '');
  assert.match(stderr, /--nmae.*\nRun "todo-service token create --help" for the flags\.\n$/);
});

test('token create says that it cannot sign for a configured issuer', async () => {
  const env = { TODO_AUTH_ISSUER: 'https://login.example.org' };
  const { code, stdout, stderr } = await runProgram(['token', 'create', '--name', 'ada'], { env });
  assert.equal(code, 78);
  assert.equal(stdout, '');
  assert.match(
    stderr,
    /^Cannot make a token: TODO_AUTH_\* names an issuer, and only that issuer can sign for it/,
  );
});

test('token create signs for no issuer whose secret is in a file that the service would refuse', async () => {
  await using folder = await temporaryFolder();
  const env = {
    TODO_AUTH_ISSUER: 'https://login.example.org',
    TODO_AUTH_SECRET_FILE: await folder.write('secret', 'short'),
  };
  const { code, stdout, stderr } = await runProgram(['token', 'create', '--name', 'ada'], { env });
  assert.deepEqual({ code, stdout }, { code: 78, stdout: '' });
  assert.match(
    stderr,
    /^Cannot make a token, .*\n {2}TODO_AUTH_AUDIENCE must be .*\n {2}TODO_AUTH_SECRET_FILE must /,
  );
});

test('token create does not look at settings that it does not use', async () => {
  await using folder = await temporaryFolder();
  const env = {
    TODO_PORT: 'http',
    TODO_LOG_LEVEL: 'loud',
    TODO_DATABASE: 'mysql://db',
    TODO_AUTH_CLOCK_TOLERANCE: 'x',
  };
  const args = ['token', 'create', '--name', 'ada', '--data-dir', folder.path];
  const { code, stdout, stderr } = await runProgram(args, { env });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  assert.match(stdout, /^[\w.-]+\n$/);
});

test('token verify does not look at settings that it does not use', async () => {
  await using folder = await temporaryFolder();
  const { stdout: input } = await create(folder.path, '--name', 'ada');
  const env = { TODO_PORT: 'http', TODO_LOG_LEVEL: 'loud', TODO_DATABASE: 'mysql://db', TODO_PROFILE: 'x' };
  const args = ['token', 'verify', '--environment', 'development', '--data-dir', folder.path, '-'];
  assert.equal((await runProgram(args, { env, input })).code, 0);
});

test('token create does not make a token that is longer than a service takes', async () => {
  await using folder = await temporaryFolder();
  const { code, stdout, stderr } = await create(folder.path, '--name', 'a'.repeat(12_000));
  assert.equal(code, 2);
  assert.equal(stdout, '');
  assert.match(stderr, /^The token must have at most 12288 bytes, received \d+ bytes/);
});

test('a data folder that cannot be made stops serve with one line', async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write('file', 'no folder');
  const args = ['serve', '--environment', 'development', '--port', '0', '--data-dir', join(file, 'data')];
  const { code, stderr } = await runProgram([
    ...args,
    '--database',
    `sqlite:${join(folder.path, 'todos.db')}`,
  ]);
  assert.equal(code, 78);
  assert.match(stderr, /^Cannot start[^\n]*\n(?: {2}[^\n]*\n)*$/);
});

test('token verify says 503 when the issuer cannot be reached', async () => {
  await using folder = await temporaryFolder();
  const { stdout: token } = await create(folder.path, '--name', 'ada');
  const env = { TODO_AUTH_ISSUER: 'http://127.0.0.1:9', TODO_AUTH_AUDIENCE: 'todo-service' };
  const { code, stdout, stderr } = await runProgram(['token', 'verify', token.trim()], { env });
  assert.equal(code, 1);
  assert.match(stdout, /there are no keys: 503\.\n$/);
  assert.doesNotMatch(stderr, /[{}]/);
});

test('token create warns when the environment is production, on standard error', async () => {
  await using folder = await temporaryFolder();
  const env = { TODO_ENVIRONMENT: 'production' };
  const { code, stdout, stderr } = await runProgram(
    ['token', 'create', '--name', 'ada', '--data-dir', folder.path],
    { env },
  );
  assert.equal(code, 0);
  assert.match(stdout, /^[\w.-]+\n$/);
  assert.match(stderr, /a service in production refuses this token/);
});

test('a damaged development key stops token create and serve with one message', async () => {
  await using folder = await temporaryFolder();
  await folder.write('development-key.json', '{');
  for (const args of [
    ['token', 'create', '--name', 'ada'],
    ['serve', '--environment', 'development', '--port', '0'],
  ]) {
    const { code, stderr } = await runProgram([...args, '--data-dir', folder.path]);
    assert.equal(code, 78, stderr);
    assert.match(stderr, /The development key ".*" cannot be used: .*Restore the file, or delete it/);
    assert.doesNotMatch(stderr, /\n\s+at /);
  }
});

test('token verify explains a good token check by check, from standard input too', async () => {
  await using folder = await temporaryFolder();
  const { stdout: token } = await create(folder.path, '--name', 'ada', '--role', 'editor');
  const args = ['token', 'verify', '--environment', 'development', '--data-dir', folder.path];
  const { code, stdout } = await runProgram([...args, '-'], { input: token });
  assert.equal(code, 0);
  assert.match(stdout, /^ok {5}form .*\nok {5}key .*\nok {5}signature .*\nok {5}issuer /);
  assert.match(
    stdout,
    /ok {5}name {7}"ada"\nok {5}roles {6}"editor"\nok {5}may write {2}yes\nThe token is accepted\.\n$/,
  );
  assert.equal(
    (await runProgram([...args, token.trim()])).stdout.split('\n').length,
    stdout.split('\n').length,
  );
});

test('token verify refuses an input without an end', async () => {
  const program = fileURLToPath(new URL('../../src/start.js', import.meta.url));
  const args = [program, 'token', 'verify', '--environment', 'development', '-'];
  await using input = await open('/dev/zero');
  const child = spawn(process.execPath, args, { stdio: [input.fd, 'pipe', 'inherit'] });
  assert.ok(child.stdout);
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  assert.equal(code, 1);
  assert.match(said, /^FAILED form .*\n[\s\S]*The token is refused: 401\.\n$/);
});

test('token verify says why a token is refused, and ends with 1', async () => {
  await using folder = await temporaryFolder();
  const { stdout: token } = await create(folder.path, '--name', 'ada', '--lifetime', '1s');
  const args = ['token', 'verify', '--environment', 'development', '--data-dir', folder.path, '-'];
  const other = await runProgram([...args.slice(0, -2), join(folder.path, 'other'), '-'], { input: token });
  assert.equal(other.code, 1);
  assert.match(other.stdout, /^FAILED key .*which is not there yet/m);
  assert.match(other.stdout, /The token is refused: 401\.\n$/);
});

test('token verify in production does not take a development token, and says what it is', async () => {
  await using folder = await temporaryFolder();
  const { stdout: input } = await create(folder.path, '--name', 'ada');
  const env = {
    TODO_AUTH_ISSUER: 'https://login.example.org',
    TODO_AUTH_AUDIENCE: 'todo-service',
    TODO_AUTH_SECRET_FILE: await folder.write('secret', 'a secret of more than thirty-two bytes'),
  };
  const { code, stdout } = await runProgram(['token', 'verify', '--data-dir', folder.path, '-'], {
    env,
    input,
  });
  assert.equal(code, 1);
  assert.match(stdout, /FAILED signature/);
  assert.match(stdout, /FAILED issuer .*a development token, which only development accepts/);
});

for (const args of [[], ['a', 'b'], ['--port', '1', 'a']]) {
  test(`token verify ${args.join(' ')} is wrong usage`, async () => {
    const { code, stderr } = await runProgram(['token', 'verify', ...args]);
    assert.equal(code, 2);
    assert.match(stderr, /token verify --help/);
  });
}

test('token verify names every fault of the configuration', async () => {
  const { code, stderr } = await runProgram(['token', 'verify', 'x'], {
    env: { TODO_AUTH_CLOCK_TOLERANCE: 'x' },
  });
  assert.equal(code, 78);
  assert.match(stderr, /TODO_AUTH_ISSUER.*\n.*TODO_AUTH_AUDIENCE.*\n.*TODO_AUTH_CLOCK_TOLERANCE/);
});
