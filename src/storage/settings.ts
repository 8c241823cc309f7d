import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';
import { asNotUsable, NotUsable } from '../lib/errors.ts';
import { quoteScheme } from '../lib/quote.ts';
import { readSmallFile } from '../lib/small-file.ts';
import type { Settings } from '../settings/read.ts';
import { type Connection, readConnectionString } from './postgres-connection-string.ts';

/** The place of the list: a file of this process, or a server that several instances share. */
export interface DatabaseSettings {
  readonly engine: 'sqlite' | 'postgresql';
  /** A path, or a connection string, which may hold a password: never for a log or a message. */
  readonly address: string;
}

/** The place of the list, and how a service works with it. */
export interface ServedDatabase extends DatabaseSettings {
  /** SQLite: bytes of todos to cache; 0 asks SQLite for every read. */
  readonly cacheBytes: number;
  /** PostgreSQL. False: an older schema is refused instead of being brought up to date. */
  readonly migrate: boolean;
  /** PostgreSQL: connections for single todos; the list has one more. */
  readonly connections: number;
  /** PostgreSQL. False: no statement is prepared by name, for a pooler that is not recognized as one. */
  readonly prepare: boolean;
}

/** Decides by the settings, and reads the file of a password. Makes no connection. */
export async function readDatabase(settings: Settings, dataDir: string): Promise<DatabaseSettings> {
  const value = settings.read('TODO_DATABASE');
  if (value === undefined) return { engine: 'sqlite', address: join(dataDir, 'todos.db') };
  if (/^postgres(?:ql)?:\/\//.test(value)) {
    const connection = readConnection(settings, value);
    await checkPasswordFile(settings, connection?.hasPassword === true);
    return { engine: 'postgresql', address: value };
  }
  // A path behind white space, or in quotes, would be that of a new file.
  const path = /^sqlite:([^\s"'].*)$/s.exec(value)?.[1];
  if (path === undefined) {
    const wanted =
      'must be "sqlite:" and a path, or begin with "postgres://", like "sqlite:data/todos.db" or ' +
      '"postgres://todo@localhost/todos"';
    settings.refuse('TODO_DATABASE', wanted);
  }
  return { engine: 'sqlite', address: path ?? '' };
}

/** The settings of the database for `serve`, with those that other commands do not use. */
export async function readServedDatabase(
  settings: Settings,
  dataDir: string,
  migrate: boolean,
): Promise<ServedDatabase> {
  const cacheBytes = settings.read('TODO_CACHE_MB') * 2 ** 20;
  const connections = settings.read('TODO_DATABASE_CONNECTIONS');
  const prepare = settings.read('TODO_DATABASE_PREPARE') === 'auto';
  const database = await readDatabase(settings, dataDir);
  if (database.engine === 'sqlite' && !migrate)
    settings.fault(
      '--no-migrate is for PostgreSQL: a SQLite file has one process, which migrates it',
      'TODO_DATABASE',
    );
  return { ...database, cacheBytes, migrate, connections, prepare };
}

/** Reads what a connection is made with, so that a start with faults ends before any connection. */
function readConnection(settings: Settings, value: string): Connection | undefined {
  try {
    return readConnectionString(value, settings.other);
  } catch (error) {
    const wanted = 'must be like "postgres://todo@localhost/todos"';
    return settings.refuse('TODO_DATABASE', wanted, `${quoteScheme(value)}: ${asNotUsable(error).message}`);
  }
}

async function checkPasswordFile(settings: Settings, inString: boolean): Promise<void> {
  const path = settings.read('TODO_DATABASE_PASSWORD_FILE');
  if (path === undefined) return;
  if (inString || settings.other('PGPASSWORD') !== undefined) {
    const other = inString ? 'a password in TODO_DATABASE' : 'PGPASSWORD';
    settings.refuse('TODO_DATABASE_PASSWORD_FILE', `must not be set beside ${other}`, 'both');
  }
  await readPasswordFile(path).catch((error) => {
    const received = `${settings.quoted('TODO_DATABASE_PASSWORD_FILE', path)}: ${asNotUsable(error).message}`;
    settings.refuse('TODO_DATABASE_PASSWORD_FILE', 'must name a file with a password', received);
  });
}

/** The password that a file holds. @throws {NotUsable} when it holds none, without its content and its name. */
export async function readPasswordFile(path: string): Promise<string> {
  const { bytes } = await readSmallFile(path);
  if (!isUtf8(bytes)) throw new NotUsable('it is not UTF-8');
  const password = bytes.toString('utf8').replace(/\r?\n$/, '');
  if (password === '') throw new NotUsable('it is empty');
  if (password.startsWith('\uFEFF')) throw new NotUsable('it begins with a byte order mark');
  // The protocol would end the password there.
  if (password.includes('\0')) throw new NotUsable('it has a NUL');
  return password;
}
