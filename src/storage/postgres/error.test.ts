import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DatabaseError } from 'pg';
import { messageOf } from '../../lib/errors.ts';
import { addContext, NoServer, toStoreError } from './error.ts';

function said(code: string): DatabaseError {
  return Object.assign(new DatabaseError('what the server said', 0, 'error'), { code });
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : String(error));

const table: readonly [code: string, meaning: string, name: string][] = [
  ['08006', 'connection failure', 'StoreUnavailable'],
  ['53100', 'disk full', 'StoreUnavailable'],
  ['53200', 'out of memory', 'StoreUnavailable'],
  ['53300', 'too many connections', 'StoreUnavailable'],
  ['57014', 'query canceled', 'StoreUnavailable'],
  ['57P03', 'cannot connect now', 'StoreUnavailable'],
  ['58030', 'I/O error', 'StoreUnavailable'],
  ['XX001', 'data corrupted', 'StoreUnavailable'],
  ['25006', 'read-only transaction', 'StoreUnavailable'],
  ['55P03', 'lock not available', 'StoreUnavailable'],
  ['40001', 'serialization failure, again and again', 'StoreUnavailable'],
  ['40P01', 'deadlock, again and again', 'StoreUnavailable'],
  ['0A000', 'a plan that a change of a table made useless', 'StoreUnavailable'],
  ['26000', 'prepared statement gone', 'StoreUnavailable'],
  ['42P05', 'prepared statement there already', 'StoreUnavailable'],
  ['2200H', 'sequence exhausted', 'IdsExhausted'],
  ['42P01', 'undefined table', 'error'],
  ['23514', 'check violation', 'StoreBroken'],
  ['23505', 'unique violation', 'StoreBroken'],
  ['P0001', 'raised by a function', 'StoreBroken'],
  ['428C9', 'a value for a generated column', 'StoreBroken'],
];

for (const [code, meaning, name] of table) {
  test(`${code}, ${meaning}, is ${name}, for a write as for a read: nothing was changed`, () => {
    assert.equal(nameOf(toStoreError(said(code), 'write')), name);
    assert.equal(nameOf(toStoreError(said(code), 'read')), name);
  });
}

test('after a connection was lost the outcome of a write is unknown, and a read may be tried again', () => {
  const error = new Error('no answer in 1400 ms');
  assert.equal(nameOf(toStoreError(error, 'write')), 'OutcomeUnknown');
  assert.equal(nameOf(toStoreError(error, 'read')), 'StoreUnavailable');
});

test('a name with two addresses has two messages', () => {
  assert.equal(
    messageOf(new AggregateError([new Error('no ::1'), new Error('no 127.0.0.1')])),
    'no ::1, no 127.0.0.1',
  );
});

const failureOf = (code: string) => ({
  host: { host: 'db.example', port: 5432 },
  error: Object.assign(new Error(code), { code }),
});

for (const [code, mistrusted] of [
  ['CERT_SIGNATURE_FAILURE', true],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', true],
  ['SELF_SIGNED_CERT_IN_CHAIN', true],
  ['UNABLE_TO_GET_ISSUER_CERT', true],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', true],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', true],
  ['ERR_TLS_CERT_ALTNAME_INVALID', true],
  ['CERT_HAS_EXPIRED', false],
  ['CERT_NOT_YET_VALID', false],
  ['ECONNREFUSED', false],
  ['ENOTFOUND', false],
] as const)
  test(`${code} of every host is ${mistrusted ? 'what no waiting mends' : 'over in a moment, perhaps'}`, () => {
    assert.equal(new NoServer([failureOf(code)]).mistrusted, mistrusted);
    const both = [failureOf('SELF_SIGNED_CERT_IN_CHAIN'), failureOf(code)];
    assert.equal(new NoServer(both).mistrusted, mistrusted);
  });

test('an error has what the server says of its place, and its hint, in one line without a value of the statement [D9]', () => {
  const told = (more: Partial<DatabaseError>): string => {
    const error = Object.assign(said('42501'), more);
    addContext(error);
    return error.message;
  };
  assert.equal(told({}), 'what the server said');
  assert.equal(told({ hint: 'ask\n  the DBA' }), 'what the server said (ask the DBA)');
  assert.equal(
    told({ where: 'unnamed portal parameter $1 = \'s3cr3t\'\nSQL statement "a"\n  f() line 2', hint: 'ask' }),
    'what the server said (SQL statement "a", f() line 2; ask)',
  );
  assert.equal(
    told({ where: "extended query with parameters: $1 = 's3cr3t', $2 = NULL" }),
    'what the server said',
  );
  assert.equal(
    told({
      where:
        "f() line 2\nportal \"p\" with parameters: $1 = 'a $2 = b\n''s3cr3t''\n', $2 = NULL, $3 = '\ns3cr3t",
    }),
    'what the server said (f() line 2)',
  );
  assert.ok(told({ where: 'f() line 2\n'.repeat(10_000), hint: 'a '.repeat(10_000) }).length < 700);
  assert.doesNotMatch(told({ where: 'f()\n\r\n\u2028g()' }), /[\r\n\u2028]/);
});
