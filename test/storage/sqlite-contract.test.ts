import { DatabaseSync } from 'node:sqlite';
import { describeTodoStore } from './contract.ts';
import { execute, newPath } from './new-files.ts';
import { openSqliteStore } from './sqlite-store.ts';

let current = '';

describeTodoStore('SQLite', {
  open: () => {
    current = newPath();
    return openSqliteStore(current);
  },
  openAgain: () => openSqliteStore(current),
  severalInstances: false,
  execute: async (sql) => execute(current, sql),
  ageKeys: (seconds) => `UPDATE idempotency_keys SET at = at - ${seconds}`,
  countKeys: async () => {
    using database = new DatabaseSync(current);
    return Number(database.prepare('SELECT count(*) AS count FROM idempotency_keys').get()?.count);
  },
  useUpIds: "UPDATE sqlite_sequence SET seq = 2147483647 WHERE name = 'todos'",
  refuse: (change, when) =>
    `CREATE TRIGGER refuse AFTER ${change} WHEN ${when} BEGIN SELECT RAISE(ABORT, 'refused'); END`,
  admit: () => 'DROP TRIGGER refuse',
});
