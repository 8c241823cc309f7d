import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseCreateTodo } from '../../src/shared-list/requests.ts';
import { isTitle } from '../../src/store/todo.ts';
import { cases } from '../cases.ts';
import { temporaryFolder } from '../folder.ts';
import { moveThereAndBack } from './moving.ts';
import { PostgresServer } from './postgres-server.ts';

const server = await PostgresServer.startForAll();

test('E1, E2 · generated databases are the same after a move to PostgreSQL and back', async () => {
  await using folder = await temporaryFolder();
  for (let seed = 1; seed <= cases(4, 200); seed += 1)
    await moveThereAndBack(seed, join(folder.path, `${seed}.db`), await server.makeDatabase());
});

test('B10 · an import takes the titles that a create takes, and no others', () => {
  const units = fc.constantFrom(
    'a',
    ' ',
    '\u00a0',
    '\u2003',
    '\u0085',
    '\0',
    '\ud800',
    '\udc00',
    '\u{1F95B}',
  );
  const text = fc.array(units, { maxLength: 104 }).map((parts) => parts.join(''));
  const long = fc.integer({ min: 98, max: 102 }).map((length) => '\u{1F95B}'.repeat(length));
  fc.assert(
    fc.property(fc.oneof(text, long, fc.string({ unit: 'binary' })), (title) => {
      assert.equal(isTitle(title), 'value' in parseCreateTodo({ title, categoryId: 1 }));
    }),
  );
});
