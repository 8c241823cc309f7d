import { join } from 'node:path';
import { areHosts, quoteAddress } from '../quote-address.ts';
import type { Settings } from '../settings.ts';

/** Where the list is kept: a file of this process, or a server that several instances share. */
export type DatabaseSettings = SqliteSettings | PostgresSettings;

export interface SqliteSettings {
  readonly engine: 'sqlite';
  readonly path: string;
  /** Bytes of todos to keep at hand; 0 asks SQLite for every read. */
  readonly cacheBytes: number;
}

export interface PostgresSettings {
  readonly engine: 'postgresql';
  /** May hold a password: never for a log or a message. */
  readonly connectionString: string;
  /** False: an older schema is refused instead of being brought up to date. */
  readonly migrate: boolean;
  /** For single todos; the list has one more. */
  readonly connections: number;
  /** False: no statement is prepared by name, for a pooler that is not recognized as one. */
  readonly prepare: boolean;
}

export interface DatabaseUse {
  readonly dataDir: string;
  readonly migrate: boolean;
  /** False: for a command that works on the database, to which the settings of a server say nothing. */
  readonly served: boolean;
}

/** Decides what the settings mean. Contacts nobody. */
export function readDatabase(settings: Settings, use: DatabaseUse): DatabaseSettings {
  const name = settings.nameOf('TODO_DATABASE');
  const value = settings.text('TODO_DATABASE') ?? `sqlite:${join(use.dataDir, 'todos.db')}`;
  const { cacheMegabytes, connections, prepare } = use.served ? readServed(settings) : UNSERVED;
  if (/^postgres(?:ql)?:\/\//.test(value)) {
    if (!isConnectionString(value)) {
      settings.fault(
        `${name} must be like "postgres://todo@localhost/todos", with "@", "/", "?" and "#" of a user or password as "%40", ` +
          `"%2F", "%3F" and "%23", received ${quoteAddress(value)}`,
      );
    }
    const { migrate } = use;
    return { engine: 'postgresql', connectionString: value, migrate, connections, prepare };
  }
  const path = /^sqlite:(.+)$/s.exec(value)?.[1];
  if (path === undefined) {
    settings.fault(
      `${name} must be "sqlite:" and a path, or begin with "postgres://", like "sqlite:data/todos.db" or ` +
        `"postgres://todo@localhost/todos", received ${quoteAddress(value)}`,
    );
  }
  if (!use.migrate)
    settings.fault('--no-migrate is for PostgreSQL: a SQLite file has one process, which migrates it');
  return { engine: 'sqlite', path: path ?? '', cacheBytes: cacheMegabytes * 2 ** 20 };
}

const UNSERVED = { cacheMegabytes: 0, connections: 1, prepare: true };

function readServed(settings: Settings): typeof UNSERVED {
  return {
    cacheMegabytes: settings.whole('TODO_CACHE_MB', { from: 0, to: 99_999, otherwise: 64 }),
    connections: settings.whole('TODO_DATABASE_CONNECTIONS', { from: 1, to: 1_000, otherwise: 10 }),
    prepare: settings.oneOf('TODO_DATABASE_PREPARE', ['auto', 'false'], 'auto') === 'auto',
  };
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
