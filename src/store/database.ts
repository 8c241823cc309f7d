import { join } from 'node:path';
import { areHosts, quoteAddress } from '../quote-address.ts';
import type { Settings } from '../read-settings.ts';

interface Sqlite {
  readonly engine: 'sqlite';
  readonly path: string;
}

interface Postgres {
  readonly engine: 'postgresql';
  /** May hold a password: never for a log or a message. */
  readonly connectionString: string;
}

/** Where the list is kept: a file of this process, or a server that several instances share. */
export type Database = Sqlite | Postgres;

/** The same, and how a service works with it. */
export type ServedDatabase =
  | (Sqlite & {
      /** Bytes of todos to keep at hand; 0 asks SQLite for every read. */
      readonly cacheBytes: number;
    })
  | (Postgres & {
      /** False: an older schema is refused instead of being brought up to date. */
      readonly migrate: boolean;
      /** For single todos; the list has one more. */
      readonly connections: number;
      /** False: no statement is prepared by name, for a pooler that is not recognized as one. */
      readonly prepare: boolean;
    });

/** Decides what the settings mean. Contacts nobody. */
export function readDatabase(settings: Settings, dataDir: string): Database {
  const value = settings.read('TODO_DATABASE') ?? `sqlite:${join(dataDir, 'todos.db')}`;
  if (/^postgres(?:ql)?:\/\//.test(value)) {
    if (!isConnectionString(value)) {
      const wanted =
        'must be like "postgres://todo@localhost/todos", with "@", "/", "?" and "#" of a user or password as "%40", ' +
        '"%2F", "%3F" and "%23"';
      settings.refuse('TODO_DATABASE', wanted, quoteAddress(value));
    }
    return { engine: 'postgresql', connectionString: value };
  }
  const path = /^sqlite:(.+)$/s.exec(value)?.[1];
  if (path === undefined) {
    const wanted =
      'must be "sqlite:" and a path, or begin with "postgres://", like "sqlite:data/todos.db" or ' +
      '"postgres://todo@localhost/todos"';
    settings.refuse('TODO_DATABASE', wanted, quoteAddress(value));
  }
  return { engine: 'sqlite', path: path ?? '' };
}

/** The same for `serve`, whose other settings say nothing to a command that works on the database. */
export function readServedDatabase(settings: Settings, dataDir: string, migrate: boolean): ServedDatabase {
  const cacheMegabytes = settings.read('TODO_CACHE_MB');
  const connections = settings.read('TODO_DATABASE_CONNECTIONS');
  const prepare = settings.read('TODO_DATABASE_PREPARE') === 'auto';
  const database = readDatabase(settings, dataDir);
  if (database.engine === 'postgresql') return { ...database, migrate, connections, prepare };
  if (!migrate)
    settings.fault('--no-migrate is for PostgreSQL: a SQLite file has one process, which migrates it');
  return { ...database, cacheBytes: cacheMegabytes * 2 ** 20 };
}

/**
 * Whether it is clear where a password ends: else a part of it would be taken for the host, asked of the resolver
 * and shown in its error. Hosts may be several, or in a parameter.
 */
function isConnectionString(text: string): boolean {
  const [, hosts] =
    /^[a-z]+:\/\/(?:[^@/?#]*@)?([^@/?#]*)(?:\/[^@?#]*)?(?:\?(?:[A-Za-z_]+=[^&#]*(?:&|$))*)?$/.exec(text) ??
    [];
  return hosts !== undefined && areHosts(hosts);
}
