import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after } from 'node:test';
import { openSqliteOperator } from '../../src/store/sqlite/operator.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { temporaryFolder } from '../folder.ts';
import { describeTodoStore } from './contract.ts';
import { SCHEMA_VERSION } from './todos.ts';

const folder = await temporaryFolder();
after(() => folder[Symbol.asyncDispose]());

let opened = 0;
const current = (): string => join(folder.path, `${opened}.db`);

describeTodoStore('SQLite', {
  open: () => {
    opened += 1;
    return openSqliteStore(current());
  },
  openOperator: () => openSqliteOperator(current()),
  execute: async (sql) => {
    using database = new DatabaseSync(current());
    database.exec(sql);
  },
  schemaVersion: SCHEMA_VERSION.sqlite,
  ageKeys: 'UPDATE idempotency_keys SET at = at - 86400',
  countKeys: async () => {
    using database = new DatabaseSync(current());
    return Number(database.prepare('SELECT count(*) AS count FROM idempotency_keys').get()?.count);
  },
  useUpIds: "UPDATE sqlite_sequence SET seq = 2147483647 WHERE name = 'todos'",
});
