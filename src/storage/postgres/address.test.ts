import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { NotUsable } from '../../lib/errors.ts';
import { addressOf } from './address.ts';

/** Any file will do. */
const FILE = encodeURIComponent(fileURLToPath(import.meta.url));

const hostsOf = (text: string, env = {}) =>
  addressOf(text, env).hosts.map(({ host, port }) => `${host} ${port}`);

const hosts: readonly [text: string, env: Record<string, string>, hosts: readonly string[]][] = [
  ['postgres://todo@db.example/todos', {}, ['db.example 5432']],
  ['postgresql://todo@db.example:5433/todos', {}, ['db.example 5433']],
  ['postgres://todo@a,b/todos?target_session_attrs=read-write', {}, ['a 5432', 'b 5432']],
  ['postgres://todo@a:1,b:2,c/todos', {}, ['a 1', 'b 2', 'c 5432']],
  ['postgres://todo@[::1]:5433,b/todos', {}, ['::1 5433', 'b 5432']],
  ['postgres://todo@[fe80::1%25eth0]:65535/todos', {}, ['fe80::1%eth0 65535']],
  ['postgres://todo@%2Fvar%2Frun%2Fpostgresql/todos', {}, ['/var/run/postgresql 5432']],
  ['postgres:///todos?host=a,b&port=1,2', {}, ['a 1', 'b 2']],
  ['postgres:///todos?host=a,b&port=6432', {}, ['a 6432', 'b 6432']],
  ['postgres:///todos', { PGHOST: 'a,b', PGPORT: '1,2' }, ['a 1', 'b 2']],
  ['postgres://todo@a,b/todos', { PGHOST: 'c', PGPORT: '6432' }, ['a 6432', 'b 6432']],
  ['postgres:///todos', {}, ['localhost 5432']],
];

for (const [text, env, wanted] of hosts) {
  test(`the servers of "${text}" with ${JSON.stringify(env)} are ${wanted.join(', ')}`, () => {
    assert.deepEqual(hostsOf(text, env), wanted);
  });
}

test('user, password and database are decoded, and the name tells neither user nor password', () => {
  const { config, name } = addressOf('postgres://to%40do:p%40ss%2F@a,[::1]:1/my%20todos', {});
  assert.equal(config.user, 'to@do');
  assert.equal(config.password, 'p@ss/');
  assert.equal(config.database, 'my todos');
  assert.equal(name, 'postgres://a:5432,[::1]:1/my todos');
});

test('parameters name user, password and database too, and the environment what is left out', () => {
  const given = addressOf('postgres://a/?user=u&password=p%26&dbname=d', {}).config;
  assert.deepEqual([given.user, given.password, given.database], ['u', 'p&', 'd']);
  const env = { PGUSER: 'u', PGPASSWORD: 'p', PGDATABASE: 'd' };
  for (const text of ['postgres://a', 'postgres://:@a/']) {
    const filled = addressOf(text, env).config;
    assert.deepEqual([filled.user, filled.password, filled.database], ['u', 'p', 'd']);
  }
});

test('a user and a database that are empty are as if left out, and a final "&" is no parameter', () => {
  const { config } = addressOf('postgres://a/?user=&dbname=&port=&host=&', {});
  assert.equal(config.user, userInfo().username);
  assert.equal(config.database, config.user);
  assert.deepEqual(hostsOf('postgres://a/?user=&dbname=&port=&host=&'), ['localhost 5432']);
});

test('the database of a user is named like the user', () => {
  assert.equal(addressOf('postgres://todo@a', {}).config.database, 'todo');
});

for (const mode of ['verify-full', 'verify-ca', 'require', 'prefer']) {
  test(`sslmode=${mode} verifies the certificate, and binds the channel as far as the server can`, () => {
    const { config } = addressOf(`postgres://a/todos?sslmode=${mode}&channel_binding=prefer`, {});
    assert.deepEqual(config.ssl, { rejectUnauthorized: true });
    assert.equal(config.enableChannelBinding, true);
  });
}

test('sslmode=no-verify encrypts without asking with whom, sslmode=disable not at all', () => {
  assert.deepEqual(addressOf('postgres://a/todos?sslmode=no-verify', {}).config.ssl, {
    rejectUnauthorized: false,
  });
  assert.equal(addressOf('postgres://a/todos?sslmode=disable', { PGSSLMODE: 'require' }).config.ssl, false);
  assert.equal(addressOf('postgres://a/todos', {}).config.ssl, false);
  assert.deepEqual(addressOf('postgres://a/todos', { PGSSLMODE: 'require' }).config.ssl, {
    rejectUnauthorized: true,
  });
});

test('no channel is bound without TLS, or where that is not wanted', () => {
  for (const parameters of ['channel_binding=prefer', 'sslmode=require', 'ssl=true&channel_binding=disable'])
    assert.equal(addressOf(`postgres://a/todos?${parameters}`, {}).config.enableChannelBinding, false);
});

test('the files of TLS are read; "system" is no file but the authorities of the machine', () => {
  const files = ['sslrootcert', 'sslcert', 'sslkey'].map((name) => `${name}=${FILE}`).join('&');
  const text = readFileSync(fileURLToPath(import.meta.url));
  assert.deepEqual(addressOf(`postgres://a/todos?${files}`, {}).config.ssl, {
    rejectUnauthorized: true,
    ca: text,
    cert: text,
    key: text,
  });
  assert.deepEqual(addressOf('postgres://a/todos?sslrootcert=system', {}).config.ssl, {
    rejectUnauthorized: true,
  });
});

test('the name of the application, options and the seconds to connect are passed on', () => {
  const { config } = addressOf('postgres://a/?application_name=b&options=-c%20a%3Db&connect_timeout=5', {});
  assert.deepEqual([config.application_name, config.options, config.connectMs], ['b', '-c a=b', 5_000]);
  const usual = addressOf('postgres://a', {}).config;
  assert.deepEqual(
    [usual.application_name, usual.options, usual.connectMs],
    ['todo-service', undefined, Number.POSITIVE_INFINITY],
  );
});

for (const asked of ['ssl=true', ...['sslrootcert', 'sslcert', 'sslkey'].map((name) => `${name}=${FILE}`)]) {
  test(`${asked.replace(/=.*%2F/, '=')} asks for TLS that verifies, whatever a variable says`, () => {
    for (const PGSSLMODE of ['', 'disable', 'no-verify']) {
      const { ssl } = addressOf(`postgres://a/todos?${asked}`, { PGSSLMODE }).config;
      assert.equal(typeof ssl === 'object' && ssl.rejectUnauthorized, true);
    }
  });
}

for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
  test(`a key in the place of the file of "${name}" is not shown [D18; D25]`, () => {
    for (const [path, received] of [
      ['-----BEGIN PRIVATE KEY-----\ns3cr3t', 'a name: ENOENT'],
      ['s3cr3t'.repeat(1_000), 'a name: ENAMETOOLONG'],
      ['/dev', '"/dev": EISDIR'],
    ] as const)
      assert.throws(() => addressOf(`postgres://a/todos?${name}=${encodeURIComponent(path)}`, {}), {
        message: `Cannot open the database: "${name}" must name a file in PEM, received ${received}`,
      });
  });
}

const unreadable = /the connection string cannot be read/;
type Refused = [text: string, env: Record<string, string>, message: RegExp];
const refused: readonly Refused[] = [
  ['postgres://a/todos', { PGSERVICE: 'secret' }, /the variable PGSERVICE is not supported$/],
  ['postgres://a/todos', { PGSSLMODE: 'allow' }, /PGSSLMODE must be "verify-full", "verify-ca", /],
  ['postgres://a/todos', { PGTARGETSESSIONATTRS: 'standby' }, /PGTARGETSESSIONATTRS must be "any", /],
  ['postgres://a/todos?sslmode=secret', {}, /"sslmode" must be "verify-full", "verify-ca", /],
  ['postgres://a/todos?ssl=secret', {}, /"ssl" must be "true": use "sslmode"$/],
  ['postgres://a/todos?sslnegotiation=secret', {}, /"sslnegotiation" must be "postgres" or "direct"$/],
  [
    'postgres://a/todos?service=secret',
    {},
    /"service" in the connection string is not supported: write what the service file says$/,
  ],
  [
    'postgres://a/todos?channel_binding=secret',
    {},
    /"channel_binding" must be "require", "prefer" or "disable"$/,
  ],
  ['postgres://a/todos?password=a&secret', {}, /the connection string has a parameter that is not known$/],
  ...['read-only', 'standby', 'prefer-standby', 'secret'].map(
    (attributes): Refused => [
      `postgres://a/todos?target_session_attrs=${attributes}`,
      {},
      /"target_session_attrs" must be "any", "read-write" or "primary": the service needs a server that takes writes$/,
    ],
  ),
  ['postgres://a,b,c/todos?port=1,2', {}, /it must have one port for all hosts, or one for each$/],
  ['postgres://a:65536/todos', {}, /a port must be a number from 1 to 65535$/],
  ['postgres://a:0/todos', {}, /a port must be a number from 1 to 65535$/],
  ...['secret', 'secret1', '1secret'].map(
    (port): Refused => [`postgres://a/todos?port=${port}`, {}, /a port must be a number from 1 to 65535$/],
  ),
  ['postgres:///todos?host=sec ret', {}, /the name of a host cannot be read$/],
  ['postgres:///todos?host=1::secret', {}, /the name of a host cannot be read$/],
  // An unescaped character in a password must not make a host of its end.
  ['postgres://u:p@secret@a/todos', {}, unreadable],
  ['postgres://u:p@secret@postgres://a/todos', {}, unreadable],
  ['postgres://u:p/secret@a/todos', {}, unreadable],
  ['postgres://u:p?secret@a/todos', {}, unreadable],
  ['postgres://u:p#secret@a/todos', {}, unreadable],
  ['postgres://u:p%zzsecret@a/todos', {}, unreadable],
  ['postgres://u:p%00secret@a/todos', {}, unreadable],
  ['postgres://u:secret@a:port/todos', {}, unreadable],
  ['postgres://u:secret@[::1/todos', {}, unreadable],
  ['postgres://u:secret@a/todos?sslmode=%zz', {}, unreadable],
];

for (const [text, env, message] of refused) {
  test(`"${text}" with ${JSON.stringify(env)} is invalid, and nothing of it is quoted`, () => {
    assert.throws(
      () => addressOf(text, env),
      (error: Error) => {
        assert.ok(error instanceof NotUsable);
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /secret|\n/);
        return true;
      },
    );
  });
}
