import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  errorOf,
  failureBy,
  isBusy,
  isDamage,
  isForeignKeyRefusal,
  isMachineFault,
  isSyncFailure,
} from './error.ts';

/** An error as `node:sqlite` throws it. */
const raised = (errcode: number, message = 'what SQLite said') =>
  Object.assign(new Error(message), { errcode });

for (const [code, name, isFault] of [
  [5, 'SQLITE_BUSY', true],
  [517, 'SQLITE_BUSY_SNAPSHOT', true],
  [6, 'SQLITE_LOCKED', true],
  [8, 'SQLITE_READONLY', true],
  [10, 'SQLITE_IOERR', true],
  [778, 'SQLITE_IOERR_WRITE', true],
  [1034, 'SQLITE_IOERR_FSYNC', true],
  [13, 'SQLITE_FULL', true],
  [14, 'SQLITE_CANTOPEN', true],
  [15, 'SQLITE_PROTOCOL', true],
  [11, 'SQLITE_CORRUPT', true],
  [26, 'SQLITE_NOTADB', true],
  [1, 'SQLITE_ERROR', false],
  [275, 'SQLITE_CONSTRAINT_CHECK', false],
  [787, 'SQLITE_CONSTRAINT_FOREIGNKEY', false],
] as const) {
  test(`${name} is ${isFault ? '' : 'not '}the machine's fault`, () => {
    assert.equal(isMachineFault(raised(code)), isFault);
  });
}

test('a file that is corrupt, no database or not read by the disk is damaged, a full or locked one is not', () => {
  for (const code of [11, 267, 26, 266, 522, 8458]) assert.equal(isDamage(raised(code)), true, String(code));
  for (const code of [13, 5, 8, 778, 1034, 787]) assert.equal(isDamage(raised(code)), false, String(code));
});

test('only a failure after the last byte was written leaves a commit in doubt', () => {
  assert.equal(isSyncFailure(raised(1034)), true);
  assert.equal(isSyncFailure(raised(778)), false);
  assert.equal(isSyncFailure(raised(13)), false);
});

test('a missing category is told by the foreign key, used-up ids by the name of their constraint', () => {
  assert.equal(isForeignKeyRefusal(raised(787)), true);
  assert.equal(isForeignKeyRefusal(raised(275)), false);
  const refusal = (constraint: string) => failureBy(raised(275, `CHECK constraint failed: ${constraint}`));
  assert.equal(refusal('ids_exhausted').failure, 'ids-exhausted');
  assert.equal(refusal('done IN (0, 1)').failure, 'broken');
});

test('what SQLite did not raise is none of these', () => {
  for (const is of [isBusy, isDamage, isMachineFault, isSyncFailure, isForeignKeyRefusal]) {
    assert.equal(is(new Error('SQLITE_BUSY')), false);
    assert.equal(is(undefined), false);
  }
});

test('a failure that is not of the machine is an error like any other', () => {
  const error = errorOf({ failure: 'error', message: 'no such table: todos' });
  assert.equal(String(error), 'Error: no such table: todos');
});
