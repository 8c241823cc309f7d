import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readSettings } from '../settings/read.ts';
import { readConnectionString } from './connection-string.ts';
import { addressOf } from './postgres/address.ts';
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

test('a parameter of another client, or in another spelling, is named; any other may be a part of a password', async () => {
  for (const [parameter, why] of [
    ['schema=app', '"schema" in the connection string is not supported'],
    ['pgbouncer=true', '"pgbouncer" in the connection string is not supported'],
    ['connection_limit=5', '"connection_limit" in the connection string is not supported'],
    [
      'sslmode=require&CHANNEL-BINDING=require',
      '"channel_binding" in the connection string is not supported',
    ],
    ['sslCert=a', '"sslcert" in the connection string has another spelling'],
    ['ssl_mode=require', '"sslmode" in the connection string has another spelling'],
    ['s3cr3t=1', 'the connection string has a parameter that is not known'],
    ['constructor=1', 'the connection string has a parameter that is not known'],
  ] as const) {
    const wanted = 'TODO_DATABASE must be like "postgres://todo@localhost/todos", received "postgres://…"';
    assert.deepEqual(await faultsOf(`postgres://todo@db/todos?${parameter}`), [`${wanted}: ${why}`]);
  }
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
