import { describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { parse } from 'pg-connection-string';
import Pool from 'pg-pool';
import postgres from 'postgres';
import { PASSWORD, PostgresServer } from '../../test/storage/postgres-server.ts';
import { freePort } from '../../test/support/folder.ts';
import { holds } from './holds.ts';

const BACKENDS = `SELECT count(*)::integer AS backends FROM pg_stat_activity
  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`;

describe('connections to PostgreSQL', () => {
  holds('pg-pool has three connections in a pool of one, while the server works on statements that were given up', async () => {
    await using server = await PostgresServer.start();
    const { port } = server;
    const database = { host: '127.0.0.1', port, user: 'postgres', password: PASSWORD, database: 'postgres' };
    const pool = new Pool({ ...database, max: 1, query_timeout: 200 });
    for (let tries = 0; tries < 3; tries += 1) {
      const client = await pool.connect();
      await client.query('SELECT pg_sleep(600)').catch(() => {});
      client.release(true);
    }
    const looking = new Client(database);
    await looking.connect();
    const { rows } = await looking.query(BACKENDS);
    await looking.end();
    await pool.end();
    return rows;
  }, [{ backends: 3 }]);
  holds(
    'postgres.js never rejects while both of two hosts are away',
    async () => {
      const hosts = `127.0.0.1:${await freePort()},127.0.0.1:${await freePort()}`;
      const sql = postgres(`postgres://todo@${hosts}/todo`, { connect_timeout: 1 });
      const rejected = sql`SELECT 1`.then(
        () => 'answered',
        () => 'rejected',
      );
      const outcome = await Promise.race([rejected, sleep(5_000, 'neither')]);
      await sql.end({ timeout: 0 });
      return outcome;
    },
    'neither',
  );
});

describe('connection strings', () => {
  const taken = (text: string) => Object.entries(parse(text)).filter(([, value]) => value !== '');

  holds('pg-connection-string takes a misspelled parameter', () => taken('postgres://h/d?conect_timeout=3'), [
    ['conect_timeout', '3'],
    ['host', 'h'],
    ['database', 'd'],
  ]);
  holds(
    'pg-connection-string takes channel_binding=require, which nothing obeys',
    () => taken('postgres://h/d?channel_binding=require'),
    [
      ['channel_binding', 'require'],
      ['host', 'h'],
      ['database', 'd'],
    ],
  );
  holds('pg-connection-string takes mysql://', () => taken('mysql://h/d'), [
    ['host', 'h'],
    ['database', 'd'],
  ]);
});
