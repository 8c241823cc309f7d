import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readSettings } from '../settings/read.ts';
import { addressOf } from './postgres/address.ts';
import { readConnectionString } from './postgres-connection-string.ts';
import { readDatabase } from './settings.ts';

/** The faults of a configuration with this connection string. */
async function faultsOf(text: string): Promise<readonly string[]> {
  const settings = readSettings({ TODO_DATABASE: text }, {});
  await readDatabase(settings, 'data');
  return settings.faults;
}

/** The address of a connection, or the error. */
function connected(text: string): ReturnType<typeof addressOf> | Error {
  try {
    return addressOf(text, {});
  } catch (error) {
    assert.ok(error instanceof Error);
    return error;
  }
}

/** Parts of connection strings, whole and broken, also in an unusual order. */
const PIECES = fc.constantFrom(
  ...[':', '@', '/', '?', '#', '&', '=', ',', '%', '[', ']', '%00', '%zz', '%40', '%2F', ' ', '\n', 'é', '+'],
  ...[
    'todo',
    's3cr3t',
    'db',
    'db:5433',
    '[::1]',
    '[fe80::1%eth0]',
    '[fe80::1%25eth0]',
    ':0',
    ':65536',
    '127.0.0.1',
  ],
  ...[
    'user=',
    'password=s3cr3t',
    'dbname=d',
    'host=a,b',
    'port=1,2',
    'port=',
    'sslmode=require',
    'sslmode=x',
  ],
  ...[
    'target_session_attrs=any',
    'options=-c%20a%3Db',
    'application_name=a@b',
    'x#y',
    'schema=app',
    'sslCert=a',
  ],
  ...['service=a', 'ssl=true', 'sslnegotiation=direct', 'sslnegotiation=x', '&&', '//'],
  ...['channel_binding=require', 'channel_binding=', 'connect_timeout=10', 'connect_timeout=s3cr3t'],
  ...['gssencmode=require', 'client_encoding=latin1', 'client_encoding=utf-8', '&sslmode=disable'],
);
const STRING = fc
  .tuple(fc.constantFrom('postgres://', 'postgresql://'), fc.array(PIECES, { maxLength: 9 }))
  .map(([scheme, pieces]) => `${scheme}${pieces.join('')}`);

test('what the configuration takes can be connected with, and what it refuses cannot; one line says so, without a word of it', async () => {
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(STRING, async (text) => {
      // Stray parts around a text are found before (contract D18).
      fc.pre(text === text.trim());
      const [fault, ...more] = await faultsOf(text);
      const address = connected(text);
      assert.deepEqual([fault === undefined, more], [!(address instanceof Error), []], `${fault} ${address}`);
      if (fault === undefined) taken += 1;
      assert.doesNotMatch(`${fault} ${address instanceof Error ? address.message : ''}`, /s3cr3t|\n/);
    }),
    { numRuns: 5_000 },
  );
  assert.ok(taken > 100, `${taken}`);
});

/** A password with all the characters that have a meaning in an address. */
const PASSWORD = fc
  .array(fc.constantFrom('@', ':', '/', '?', '#', '%', '&', '=', ',', '[', ' ', 'é', '"', 'a', '1', '4'), {
    maxLength: 6,
  })
  .map((parts) => `p4ss${parts.join('')}w0rd`);

/** The places of a password in a connection string. */
const PLACES = [
  (password: string) => `postgres://todo:${password}@db:5433/todos`,
  (password: string) => `postgres://todo:${password}@a,b/todos?sslmode=require`,
  (password: string) => `postgres://todo@db/todos?password=${password}`,
  (password: string) => `postgres://todo@db/todos?sslmode=require&password=${password}&application_name=a`,
];

test('a password of any characters is taken as it is when it is percent-encoded', async () => {
  await fc.assert(
    fc.asyncProperty(PASSWORD, fc.constantFrom(...PLACES), async (password, place) => {
      const text = place(encodeURIComponent(password));
      assert.deepEqual(await faultsOf(text), []);
      assert.equal(addressOf(text, {}).config.password, password);
    }),
  );
});

test('of a password that is not percent-encoded no part is told, nor taken for a host', async () => {
  await fc.assert(
    fc.asyncProperty(PASSWORD, fc.constantFrom(...PLACES), async (password, place) => {
      const text = place(password);
      const [fault = '', ...more] = await faultsOf(text);
      assert.deepEqual(more, []);
      const address = connected(text);
      if (address instanceof Error) {
        assert.match(fault, /^TODO_DATABASE must be like /);
        assert.doesNotMatch(fault + address.message, /p4ss|w0rd/);
      } else {
        assert.equal(fault, '');
        assert.doesNotMatch(address.name, /p4ss|w0rd/);
        assert.ok(
          address.hosts.every(({ host }) => ['db', 'a', 'b'].includes(host)),
          address.name,
        );
      }
    }),
    { numRuns: 1_000 },
  );
});

/** The one fault of a string with these parameters. */
async function refusal(parameters: string): Promise<string> {
  const [fault = '', ...more] = await faultsOf(`postgres://todo@db/todos?${parameters}`);
  assert.deepEqual(more, []);
  const wanted = 'TODO_DATABASE must be like "postgres://todo@localhost/todos", received "postgres://…": ';
  assert.ok(fault.startsWith(wanted), `${parameters}: ${fault}`);
  return fault.slice(wanted.length);
}

test('a parameter of another client, or in another spelling, is named; any other may be a part of a password [D25]', async () => {
  for (const [parameter, why] of [
    [
      'schema=app',
      '"schema" in the connection string is not supported: say ALTER ROLE … SET search_path = …',
    ],
    [
      'pgbouncer=true',
      '"pgbouncer" in the connection string is not supported: leave it out: PgBouncer is recognized; for another pooler set TODO_DATABASE_PREPARE=false',
    ],
    [
      'connection_limit=5',
      '"connection_limit" in the connection string is not supported: set TODO_DATABASE_CONNECTIONS',
    ],
    [
      'sslmode=require&CHANNEL-BINDING=require',
      '"channel_binding" in the connection string has another spelling',
    ],
    ['sslCert=a', '"sslcert" in the connection string has another spelling'],
    [
      'workaround=supabase-pooler.vercel',
      '"workaround" in the connection string is not supported: leave it out',
    ],
    ['ssl_mode=require', '"sslmode" in the connection string has another spelling'],
    ['s3cr3t=1', 'the connection string has a parameter that is not known'],
    ['constructor=1', 'the connection string has a parameter that is not known'],
  ] as const)
    assert.equal(await refusal(parameter), why);
});

/** https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-PARAMKEYWORDS, of version 18 */
const OF_LIBPQ =
  `host hostaddr port dbname user password passfile require_auth channel_binding connect_timeout
  client_encoding options application_name fallback_application_name keepalives keepalives_idle keepalives_interval
  keepalives_count tcp_user_timeout replication gssencmode sslmode sslnegotiation sslcompression sslcert sslkey
  sslkeylogfile sslpassword sslcertmode sslrootcert sslcrl sslcrldir sslsni requirepeer ssl_min_protocol_version
  ssl_max_protocol_version min_protocol_version max_protocol_version krbsrvname gsslib gssdelegation scram_client_key
  scram_server_key service servicefile target_session_attrs load_balance_hosts oauth_issuer oauth_client_id
  oauth_client_secret oauth_scope`.split(/\s+/);

test('each parameter of libpq is supported, or refused with what to do instead; none is dropped [D25]', async () => {
  const values: Record<string, string> = {
    port: '5433',
    channel_binding: 'prefer',
    connect_timeout: '10',
    client_encoding: 'UTF8',
    gssencmode: 'disable',
    sslmode: 'verify-full',
    sslnegotiation: 'postgres',
    target_session_attrs: 'primary',
  };
  const supported: string[] = [];
  for (const name of OF_LIBPQ) {
    const [fault] = await faultsOf(`postgres://todo@db/todos?${name}=${values[name] ?? 'a'}`);
    if (fault === undefined) supported.push(name);
    else assert.match(fault, new RegExp(`: "${name}" in the connection string is not supported: [a-z]{3,}`));
  }
  assert.equal(
    supported.join(' '),
    'host port dbname user password channel_binding connect_timeout client_encoding options application_name gssencmode ' +
      'sslmode sslnegotiation sslcert sslkey sslrootcert target_session_attrs',
  );
});

test('a parameter that is given twice is a fault, with the same value too [D25]', async () => {
  for (const name of ['sslmode', 'password', 'host', 'channel_binding'])
    for (const [first, second] of [
      ['disable', 'require'],
      ['disable', 'disable'],
    ])
      assert.equal(
        await refusal(`${name}=${first}&options=a&${name}=${second}`),
        `"${name}" in the connection string is given twice`,
      );
});

const CANNOT: readonly [parameter: string, values: readonly string[], why: string][] = [
  [
    'connect_timeout',
    ['0', '-1', '11', '15', '100', '1.5', '1e1', '0x5', '05', '+5', '%205', '5s', '', 's3cr3t'],
    'must be a number of seconds from 1 to 10: a start ends within 10 s',
  ],
  ['gssencmode', ['require', 'Prefer', '', 's3cr3t'], 'must be "disable" or "prefer": TLS encrypts'],
  [
    'client_encoding',
    ['LATIN1', 'auto', 'SQL_ASCII', 'UTF16', 'utf8%20', 'xutf8', '', 's3cr3t'],
    'must be "UTF8"',
  ],
  [
    'channel_binding',
    ['required', 'Require', 'on', '1', '', 's3cr3t'],
    'must be "require", "prefer" or "disable"',
  ],
  [
    'channel_binding',
    ['require', 'require&sslmode=disable'],
    'must be with TLS where it is "require": add "sslmode=verify-full"',
  ],
  [
    'sslnegotiation',
    ['direct', 'direct&sslmode=disable'],
    'must be with TLS where it is "direct": add "sslmode=verify-full"',
  ],
  ['sslmode', ['disable&ssl=true'], 'must be another than "disable" beside "ssl=true"'],
];

const VARIABLES: Readonly<Record<string, string>> = {
  connect_timeout: 'PGCONNECT_TIMEOUT',
  gssencmode: 'PGGSSENCMODE',
  client_encoding: 'PGCLIENTENCODING',
  channel_binding: 'PGCHANNELBINDING',
  sslnegotiation: 'PGSSLNEGOTIATION',
};

test('a variable of libpq that chooses a server or makes a connection safer is honoured or a fault [D25]', () => {
  for (const name of [
    ...['PGSERVICE', 'PGHOSTADDR', 'PGLOADBALANCEHOSTS', 'PGREQUIREAUTH', 'PGREQUIREPEER', 'PGREQUIRESSL'],
    ...['PGSSLCERTMODE', 'PGSSLCRL', 'PGSSLCRLDIR', 'PGSSLMINPROTOCOLVERSION', 'PGSSLMAXPROTOCOLVERSION'],
  ])
    assert.throws(
      () => readConnectionString('postgres://todo@db', (asked) => (asked === name ? '1' : undefined)),
      { name: 'NotUsable', message: `the variable ${name} is not supported` },
    );
});

test('a value with which the service cannot work is a fault, in the string and in its variable [D9; D25]', async () => {
  for (const [name, values, why] of CANNOT)
    for (const value of values) {
      assert.equal(await refusal(`${name}=${value}`), `"${name}" ${why}`, value);
      const variable = VARIABLES[name] ?? '';
      // An empty variable counts as not set.
      if (value === '' || value.includes('&')) continue;
      assert.throws(
        () =>
          readConnectionString('postgres://todo@db', (asked) =>
            asked === variable ? decodeURIComponent(value) : undefined,
          ),
        { name: 'NotUsable', message: `${variable} ${why}` },
      );
    }
});

test('values that the service has anyway are taken [D25]', async () => {
  for (const parameters of [
    ...['1', '2', '9', '10'].map((seconds) => `connect_timeout=${seconds}`),
    ...['UTF8', 'utf8', 'UTF-8', 'utf-8', 'Utf8'].map((encoding) => `client_encoding=${encoding}`),
    ...['disable', 'prefer'].flatMap((value) => [`gssencmode=${value}`, `channel_binding=${value}`]),
    ...['no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'].map(
      (mode) => `channel_binding=require&sslmode=${mode}`,
    ),
    'channel_binding=require&ssl=true',
  ])
    assert.deepEqual(await faultsOf(`postgres://todo@db/todos?${parameters}`), [], parameters);
});

test('parameters without their "?" are no part of the name of the database, which messages show', async () => {
  for (const text of ['todos&password=s3cr3t', 'todospassword=s3cr3t', 'todos;password=s3cr3t', '&', 'a=']) {
    const [fault = ''] = await faultsOf(`postgres://todo@db/${text}`);
    assert.match(fault, /the connection string cannot be read: .* and "\?" before parameters$/);
    assert.doesNotMatch(`${fault} ${connected(`postgres://todo@db/${text}`)}`, /s3cr3t/);
  }
  assert.equal(readConnectionString('postgres://todo@db/a%26b%3Dc', () => undefined).database, 'a&b=c');
});

test('a very long connection string is read, or refused with a short message', () => {
  for (const piece of ['a', ',', ':', '%40', '&', 'a=b&', '[', 'a,', '@', '?']) {
    for (const begin of ['', 'todo:', 'todo@db/?', 'todo@db/?host='])
      try {
        readConnectionString(`postgres://${begin}${piece.repeat(30_000)}`, () => undefined);
      } catch (error) {
        assert.ok(error instanceof Error && error.message.length < 200);
      }
  }
});
