import assert from 'node:assert/strict';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { addressOf } from '../../src/store/postgres/address.ts';
import { Cluster } from '../../src/store/postgres/cluster.ts';
import { canaries } from '../canaries/canaries.ts';
import { temporaryFolder } from '../folder.ts';
import { runProgram, startService } from '../start.ts';
import { PASSWORD, PostgresServer } from './postgres-server.ts';

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

const NEXT = 'canary-next-pässword-77\n';
canaries.keepSecret(NEXT.trim());

/** A database whose owner's password stands in a file, and not in the connection string. */
async function withPasswordFile(folder: string, content: string | Uint8Array = `${PASSWORD}\n`) {
  const { owner, url } = await server.makeOwnedDatabase();
  const path = join(folder, 'password');
  await writeFile(path, content);
  const bare = url.replace(`:${PASSWORD}@`, '@');
  // Whoever looks on has a password that stays.
  const watched = url.replace(owner, 'postgres');
  return { owner, watched, bare, path, env: { TODO_DATABASE: bare, TODO_DATABASE_PASSWORD_FILE: path } };
}

const alter = (owner: string, password: string) =>
  server.execute(server.url, `ALTER ROLE ${owner} PASSWORD '${password}'`);

for (const [what, content, password] of [
  ['the password alone', PASSWORD, PASSWORD],
  ['a final line break', `${PASSWORD}\n`, PASSWORD],
  ['a final line break of Windows', `${PASSWORD}\r\n`, PASSWORD],
  ['a line break of the password, and a final one', `${NEXT}\n`, NEXT],
] as const) {
  test(`commands for operators take the password of a file with ${what}`, async () => {
    await using folder = await temporaryFolder();
    const { owner, env } = await withPasswordFile(folder.path, content);
    await alter(owner, password);
    for (const command of [['migrate'], ['categories', 'add', 'Garden'], ['export']]) {
      const { code, stderr } = await runProgram(command, { env });
      assert.deepEqual({ command, code, stderr }, { command, code: 0, stderr: '' });
    }
  });
}

test('a command without a password says that the server asks for one, and where it may stand', async () => {
  await using folder = await temporaryFolder();
  const { bare } = await withPasswordFile(folder.path);
  const { code, stderr } = await runProgram(['check'], { env: { TODO_DATABASE: bare } });
  assert.equal(code, 69);
  assert.match(stderr, /: it asks for a password: TODO_DATABASE_PASSWORD_FILE names a file with one\n$/);
});

test('a password changes without a restart: known connections stay, new ones have the new text', async () => {
  await using folder = await temporaryFolder();
  const { owner, watched, path, env } = await withPasswordFile(folder.path);
  await using service = await startService({ environment: 'development', env });
  const { stdout } = await runProgram(['token', 'create', '--name', 'ada', '--data-dir', service.dataDir]);
  const headers = { authorization: `Bearer ${stdout.trim()}` };
  const status = async () => (await fetch(`${service.baseUrl}/todos/1`, { headers })).status;
  assert.equal(await status(), 404);
  const before = await server.backends(watched);

  await alter(owner, NEXT);
  assert.equal(await status(), 404);
  await writeFile(`${path}.next`, `${NEXT}\n`);
  await rename(`${path}.next`, path);
  assert.equal(await status(), 404);
  const meanwhile = await server.backends(watched);
  assert.deepEqual(
    meanwhile.filter((pid) => !before.includes(pid)),
    [],
  );

  await server.terminate(watched);
  while ((await status()) !== 404) await sleep(50);
  assert.notDeepEqual(await server.backends(watched), before);
});

test('a file that goes under the service is no end: 503 for who needs a new connection, until it is back', async () => {
  await using folder = await temporaryFolder();
  const { watched, path, env } = await withPasswordFile(folder.path);
  await using service = await startService({ environment: 'development', env });
  const { stdout } = await runProgram(['token', 'create', '--name', 'ada', '--data-dir', service.dataDir]);
  const headers = { authorization: `Bearer ${stdout.trim()}` };
  const status = async () => (await fetch(`${service.baseUrl}/todos/1`, { headers })).status;
  await rm(path);
  await server.terminate(watched);
  while ((await status()) !== 503) await sleep(50);
  assert.match(service.stdout(), /TODO_DATABASE_PASSWORD_FILE cannot be used: there is no such file/);
  await writeFile(path, PASSWORD);
  while ((await status()) !== 404) await sleep(50);
});

/** How often a file is read until there is a connection or none, when it is written anew after each time. */
async function connectWhile(path: string, bare: string, texts: readonly string[]) {
  const address = addressOf(bare, { TODO_DATABASE_PASSWORD_FILE: path });
  const read = address.config.password;
  assert.ok(typeof read === 'function');
  const given: string[] = [];
  const password = async () => {
    const text = await read();
    given.push(text);
    await writeFile(path, texts[given.length - 1] ?? text);
    return text;
  };
  const cluster = new Cluster({ ...address, config: { ...address.config, password } });
  const outcome = await cluster.open({ statementMs: 1_000, strict: false, withinMs: 3_000 }).then(
    async (connection) => {
      await connection.leave();
      return 'connected';
    },
    (error: Error) => error.message,
  );
  return { outcome, given };
}

test('after 28P01 with a file that has just changed, the new text is tried at once', async () => {
  await using folder = await temporaryFolder();
  const { path, bare } = await withPasswordFile(folder.path, 'old');
  const { outcome, given } = await connectWhile(path, bare, [`${PASSWORD}\n`]);
  assert.deepEqual({ outcome, given }, { outcome: 'connected', given: ['old', PASSWORD, PASSWORD] });
});

test('after 28P01 the new text is tried once, however often the file changes', async () => {
  await using folder = await temporaryFolder();
  const { path, bare } = await withPasswordFile(folder.path, 'a');
  const { outcome, given } = await connectWhile(path, bare, ['b', 'c', 'd', 'e', 'f']);
  assert.match(outcome, /^password authentication failed for user "owner_\d+"$/);
  assert.deepEqual(given, ['a', 'b', 'c']);
});

test('after 28P01 with a file as it was, nothing is tried again', async () => {
  await using folder = await temporaryFolder();
  const { path, bare } = await withPasswordFile(folder.path, 'wrong');
  const { outcome, given } = await connectWhile(path, bare, []);
  assert.match(outcome, /^password authentication failed/);
  // Once to send it, once to see whether it has changed.
  assert.deepEqual(given, ['wrong', 'wrong']);
});

test('after any other refusal nothing is tried again, though the file has changed', async () => {
  await using folder = await temporaryFolder();
  const { path, bare } = await withPasswordFile(folder.path, PASSWORD);
  const nowhere = bare.replace(/\/todos_\d+$/, '/nowhere');
  const { outcome, given } = await connectWhile(path, nowhere, ['another']);
  assert.match(outcome, /^database "nowhere" does not exist$/);
  assert.deepEqual(given, [PASSWORD]);
});

for (const [what, variables, says] of [
  [
    'a password in the string',
    { TODO_DATABASE: 'postgres://a:b@127.0.0.1:1/c' },
    'a password in TODO_DATABASE',
  ],
  [
    'a parameter of the string',
    { TODO_DATABASE: 'postgres://127.0.0.1:1/c?user=a&password=b' },
    'a password in',
  ],
  ['PGPASSWORD', { TODO_DATABASE: 'postgres://a@127.0.0.1:1/c', PGPASSWORD: 'b' }, 'PGPASSWORD'],
] as const) {
  test(`a file beside ${what} is refused: exit code 78`, async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'password');
    await writeFile(path, PASSWORD);
    const env = { ...variables, TODO_DATABASE_PASSWORD_FILE: path };
    for (const command of [['serve', '--environment', 'development', '--port', '0'], ['check']]) {
      const { code, stderr } = await runProgram(command, { env });
      assert.equal(code, 78, stderr);
      assert.ok(stderr.includes(`TODO_DATABASE_PASSWORD_FILE must not be set beside ${says}`), stderr);
    }
  });
}

for (const [what, make, says] of [
  ['is missing', async () => {}, 'there is no such file'],
  ['is a folder', (path: string) => mkdir(path), 'it is not a regular file'],
  ['is empty', (path: string) => writeFile(path, '\n'), 'it is empty'],
  ['is huge', (path: string) => writeFile(path, 'x'.repeat(70_000)), 'it is larger than 64 KiB'],
  [
    'begins with a byte order mark',
    (path: string) => writeFile(path, `\uFEFF${PASSWORD}`),
    'byte order mark',
  ],
  ['has a NUL', (path: string) => writeFile(path, `${PASSWORD}\0x`), 'it has a NUL'],
  ['is no UTF-8', (path: string) => writeFile(path, Buffer.from([0xff, 0xfe, 0x41])), 'it is not UTF-8'],
] as const) {
  test(`a password file that ${what} is a fault: exit code 78, and nothing of it is shown`, async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'password');
    await make(path);
    const env = { TODO_DATABASE: 'postgres://a@127.0.0.1:1/c', TODO_DATABASE_PASSWORD_FILE: path };
    const { code, stderr } = await runProgram(['check'], { env });
    assert.equal(code, 78, stderr);
    assert.match(stderr, new RegExp(`TODO_DATABASE_PASSWORD_FILE must name a file .*${says}\\n$`));
    assert.ok(!stderr.includes(path) && !stderr.includes(PASSWORD), stderr);
  });
}

test('config shows the name of the file, and nothing of its content', async () => {
  await using folder = await temporaryFolder();
  const { path, env } = await withPasswordFile(folder.path);
  const { code, stdout, stderr } = await runProgram(['config', '--environment', 'development'], { env });
  assert.equal(code, 0, stderr);
  const row = stdout.split('\n').find((line) => line.startsWith('TODO_DATABASE_PASSWORD_FILE '));
  assert.deepEqual(row?.split(/ {2,}/), ['TODO_DATABASE_PASSWORD_FILE', path, 'variable']);
  assert.ok(!stdout.includes(PASSWORD));
});
