import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import fc from 'fast-check';
import { addressOf } from '../../src/storage/postgres/address.ts';
import { Cluster } from '../../src/storage/postgres/cluster.ts';
import { cases } from '../support/cases.ts';
import { runCommand } from '../support/run-command.ts';
import { ALL_SAYINGS, type Saying, startImpostor, startMiddleman } from './impostor.ts';
import { newPath } from './new-files.ts';
import { openPool } from './postgres-pool.ts';
import { atPort, PASSWORD, PostgresServer } from './postgres-server.ts';
import { reach, switchOnTls } from './postgres-tls.ts';

const server = await PostgresServer.startForAll();

/** How roles log in whose login is not by SCRAM. */
const METHODS = ['trust', 'password', 'md5'] as const;

before(async () => {
  await switchOnTls(server);
  const access = METHODS.map((method) => `host all with_${method} 127.0.0.1/32 ${method}`);
  await writeFile(
    join(server.dataFolder, 'pg_hba.conf'),
    `${access.join('\n')}\nhost all all 127.0.0.1/32 scram-sha-256\n`,
  );
  await server.set('password_encryption', 'md5');
  for (const method of METHODS)
    await server.execute(server.url, `CREATE ROLE with_${method} LOGIN PASSWORD '${PASSWORD}'`);
});

/** Connects, and gives the reason why it cannot. */
async function connecting(url: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const cluster = new Cluster(addressOf(url, env));
  return cluster.open({ statementMs: 60_000, strict: true, withinMs: 600_000 }).then(
    async (connection) => {
      await connection.leave();
      return 'connected';
    },
    (error: Error) => error.message,
  );
}

/** The superuser's connection string by a port, whatever certificate is there. */
const unverified = (port: number) => reach(atPort(server.url, port), '127.0.0.1', 'no-verify');

test('with channel_binding=require a server with TLS is connected to, whether its certificate is verified or not [D25]', async () => {
  const verified = reach(server.url, 'localhost', 'verify-full', 'right-root.pem');
  for (const url of [verified, `${verified}&sslnegotiation=direct`, unverified(server.port)])
    for (const binding of ['require', 'prefer', 'disable'])
      assert.equal(await connecting(`${url}&channel_binding=${binding}`), 'connected');
});

test('a server in the middle, with another certificate, is noticed with channel_binding=require and no other way [D25]', async () => {
  await using middleman = await startMiddleman(server.port);
  const url = unverified(middleman.port);
  assert.equal(await connecting(url), 'connected');
  const noticed = 'SCRAM channel binding check failed';
  assert.equal(await connecting(`${url}&channel_binding=require`), noticed);
  assert.equal(await connecting(url, { PGCHANNELBINDING: 'require' }), noticed);
});

const NOT_BOUND =
  'it does not log in by SCRAM-SHA-256-PLUS, which "channel_binding=require" needs: leave that out with "sslmode=verify-full"';

for (const method of METHODS) {
  test(`a role that logs in by ${method} connects, and does not with channel_binding=require [D25]`, async () => {
    const url = reach(server.url, 'localhost', 'verify-full', 'right-root.pem').replace(
      '//postgres:',
      `//with_${method}:`,
    );
    assert.equal(await connecting(url), 'connected');
    assert.equal(await connecting(`${url}&channel_binding=require`), NOT_BOUND);
  });
}

for (const [what, ...sayings] of [
  ['a password as text', 'cleartext'],
  ['a password by MD5', 'md5'],
  ['SCRAM without a channel', 'scram'],
  ['nothing', 'trust', 'ready'],
  ['nothing, without a word of it', 'ready'],
  ['a password as text behind a first answer', 'plus', 'cleartext'],
  ['nothing behind a first answer', 'plus', 'trust', 'ready'],
  ['nothing behind a challenge', 'plus', 'challenge', 'trust', 'ready'],
] as const satisfies readonly [string, ...Saying[]][]) {
  test(`a server that asks for ${what} gets no password with channel_binding=require [D25]`, async () => {
    await using impostor = await startImpostor();
    impostor.say(...sayings);
    const path = newPath('password');
    await writeFile(path, PASSWORD);
    const url = unverified(impostor.port);
    const bare = `${url.replace(`:${PASSWORD}@`, '@')}&channel_binding=require`;
    assert.equal(await connecting(`${url}&channel_binding=require`), NOT_BOUND);
    assert.equal(await connecting(url, { PGCHANNELBINDING: 'require' }), NOT_BOUND);
    assert.equal(await connecting(bare, { TODO_DATABASE_PASSWORD_FILE: path }), NOT_BOUND);
    assertNoPassword(impostor.heard(), sayings);
  });
}

test('of a server whose login is not bound to the channel, one line says so, and the exit code is 69 [D9; D25]', async () => {
  await using impostor = await startImpostor();
  impostor.say('cleartext');
  const env = { TODO_DATABASE: `${unverified(impostor.port)}&channel_binding=require` };
  const { code, stderr } = await runCommand(['check'], { env });
  const name = `postgres://127.0.0.1:${impostor.port}/postgres`;
  assert.equal(stderr, `Cannot check the database: Cannot open the database "${name}": ${NOT_BOUND}\n`);
  assert.equal(code, 69);
});

for (const [said, method] of [
  ['gssapi', 'GSSAPI'],
  ['sspi', 'SSPI'],
  ['unheard', 'method 77'],
  ['oauth', 'OAUTHBEARER'],
] as const) {
  test(`a server that asks for ${said}, with TLS and without: one line at the start (69), a failure of the database later [D9]`, async () => {
    const reason = `its pg_hba.conf asks for a login by ${method}, which this program does not know: give it a line with "scram-sha-256"`;
    for (const plain of [true, false]) {
      await using impostor = await startImpostor(plain);
      impostor.say(said);
      const url = plain ? atPort(server.url, impostor.port) : unverified(impostor.port);
      const { code, stderr } = await runCommand(['check'], { env: { TODO_DATABASE: url } });
      const name = `postgres://127.0.0.1:${impostor.port}/postgres`;
      assert.equal(stderr, `Cannot check the database: Cannot open the database "${name}": ${reason}\n`);
      assert.equal(code, 69);
      await using pool = openPool(url);
      await assert.rejects(pool.read('SELECT'), {
        name: 'StoreUnavailable',
        message: `No connection to the database: ${reason}`,
      });
    }
  });
}

for (const [what, said] of [
  ['an error of a login that lacks its end', 'endless'],
  ['an answer of another protocol', 'http'],
] as const) {
  test(`${what} is one line at the start (69), and keeps up nothing [D9]`, async () => {
    for (const plain of [true, false]) {
      await using impostor = await startImpostor(plain);
      impostor.say(said, 'ready');
      const url = plain ? atPort(server.url, impostor.port) : unverified(impostor.port);
      const { code, stderr } = await runCommand(['check'], { env: { TODO_DATABASE: url } });
      const reason = 'its answer cannot be read as one of PostgreSQL';
      const name = `postgres://127.0.0.1:${impostor.port}/postgres`;
      assert.equal(stderr, `Cannot check the database: Cannot open the database "${name}": ${reason}\n`);
      assert.equal(code, 69);
    }
  });
}

/** Before the server has shown that it knows the password, it gets proofs alone, which are bound to the channel. */
function assertNoPassword(heard: string, [first]: readonly Saying[]): void {
  assert.ok(!heard.includes(PASSWORD));
  if (first !== 'plus') assert.equal(heard, '');
  else assert.match(heard, BOUND);
}

/** The answers of a client, one login after the other. */
const BOUND = /^(?:p.{4}SCRAM-SHA-256-PLUS\0.{4}p=tls-server-end-point,,n=\*,r=\S{24}(?:p.{4}c=\S+)?)+$/s;

test('whatever a server says that does not know the password, it gets none and is not connected to [D25]', async () => {
  await using impostor = await startImpostor();
  const url = `${unverified(impostor.port)}&channel_binding=require`;
  const sayings = fc.array(fc.constantFrom(...ALL_SAYINGS), { maxLength: 5 });
  const plausible = fc.tuple(fc.constant<Saying[]>(['plus', 'challenge', 'verified', 'trust']), sayings);
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        sayings,
        plausible.map(([login, more]) => [...login, ...more]),
      ),
      async (said) => {
        impostor.say(...said, 'trust', 'ready');
        assert.notEqual(await connecting(url), 'connected');
        assertNoPassword(impostor.heard(), [...said, 'trust']);
      },
    ),
    { numRuns: cases(100, 2_000) },
  );
});
