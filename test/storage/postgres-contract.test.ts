import { after } from 'node:test';
import { openPostgresStore } from '../../src/shared-list/postgres/open.ts';
import { openPostgresOperator } from '../../src/shared-list/postgres/operator.ts';
import { describeTodoStore } from './contract.ts';
import { PostgresServer } from './postgres-server.ts';

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

let current = '';

describeTodoStore('PostgreSQL', {
  open: async () => {
    current = await server.makeDatabase();
    return openPostgresStore(current);
  },
  openAgain: () => openPostgresStore(current),
  openOperator: () => openPostgresOperator(current),
  execute: async (sql) => {
    await server.execute(current, sql);
  },
  useUpIds: "SELECT setval(pg_get_serial_sequence('todos', 'id'), 2147483647)",
});
