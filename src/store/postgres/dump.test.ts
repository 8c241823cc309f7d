import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dumpCommand } from './dump.ts';

test('the call of pg_dump names the database and never the password', () => {
  assert.equal(
    dumpCommand('postgres://todo:secret@db.example:5433/todos?sslmode=disable', '/backup/todos.dump'),
    'pg_dump --format=custom --host=db.example --port=5433 --username=todo --dbname=todos --file=/backup/todos.dump',
  );
});

test('what a shell would read otherwise is quoted', () => {
  assert.equal(
    dumpCommand('postgres://todo@db.example/todos', "Ada's copy; rm -r ~"),
    "pg_dump --format=custom --host=db.example --port=5432 --username=todo --dbname=todos --file='Ada'\\''s copy; rm -r ~'",
  );
});

test('a connection string that cannot be read gives no call', () => {
  assert.equal(dumpCommand('postgres://todo:secret@host:port/', 'copy'), undefined);
});
