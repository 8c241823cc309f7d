import { join } from 'node:path';
import { areHosts, quoteAddress } from '../quote-address.ts';
import { readWhole } from '../whole-number.ts';

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
}

/** A value with the name of the flag or the variable that it came from. */
export interface NamedSetting {
  readonly name: string;
  readonly value: string | undefined;
}

export interface RawDatabaseSettings {
  readonly database: NamedSetting;
  readonly dataDir: string;
  readonly cacheMegabytes: string | undefined;
  readonly migrate: boolean;
}

/** Decides what the settings mean; each fault is a line for people. Contacts nobody. */
export function readDatabase(raw: RawDatabaseSettings, faults: string[]): DatabaseSettings {
  const { name, value = `sqlite:${join(raw.dataDir, 'todos.db')}` } = raw.database;
  const range = { from: 0, to: 99_999, otherwise: 64 };
  const cacheBytes = readWhole('TODO_CACHE_MB', raw.cacheMegabytes, range, faults) * 2 ** 20;
  if (/^postgres(?:ql)?:\/\//.test(value)) {
    if (!isConnectionString(value)) {
      faults.push(
        `${name} must be like "postgres://todo@localhost/todos", with "@", "/", "?" and "#" of a user or password as "%40", ` +
          `"%2F", "%3F" and "%23", received ${quoteAddress(value)}`,
      );
    }
    return { engine: 'postgresql', connectionString: value, migrate: raw.migrate };
  }
  const path = /^sqlite:(.+)$/s.exec(value)?.[1];
  if (path === undefined) {
    faults.push(
      `${name} must be "sqlite:" and a path, or begin with "postgres://", like "sqlite:data/todos.db" or ` +
        `"postgres://todo@localhost/todos", received ${quoteAddress(value)}`,
    );
  }
  if (!raw.migrate)
    faults.push('--no-migrate is for PostgreSQL: a SQLite file has one process, which migrates it');
  return { engine: 'sqlite', path: path ?? '', cacheBytes };
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
