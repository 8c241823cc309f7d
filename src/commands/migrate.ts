import type { LogEvent } from '../events.ts';
import { readDatabaseConfig } from '../server/config.ts';
import { ADAPTERS, nameOf } from '../server/engines.ts';
import { defineCommand, WrongUsage } from './command.ts';
import { DATABASE_FLAGS, DATABASE_HELP, printLogMoved } from './on-database.ts';
import { print } from './print.ts';

const HELP = `Usage: todo-service migrate [flags]

Brings the schema of the database up to this program's version, and makes the first categories where there is
none. A SQLite file that does not exist is made. "serve" does the same at its start, unless "--no-migrate" is given.

  --another-list                          PostgreSQL: where another schema than those of the search path has a list, a
                                          second one is made
${DATABASE_HELP}

Exit codes: 0 the schema is up to date, 2 wrong usage, 65 the SQLite file is empty, damaged or not of this
service, 69 the database cannot be used or is too new for it, 75 a process serves the SQLite file, 78 faults in the
configuration, a server whose certificate is of an unknown authority or for another name, or a list in another schema.

Examples:
  todo-service migrate
  TODO_DATABASE=postgres://owner@db.example/todos todo-service migrate
`;

export const migrate = defineCommand(
  { action: 'migrate', flags: { ...DATABASE_FLAGS, 'another-list': { type: 'boolean' } }, help: HELP },
  async ({ 'another-list': anotherList, ...given }, env) => {
    const database = await readDatabaseConfig(given, env);
    if (anotherList && database.engine === 'sqlite')
      throw new WrongUsage('--another-list is for PostgreSQL: a SQLite file has one list');
    const bringUpToDate = await ADAPTERS[database.engine].migrate();
    const { from, to } = await bringUpToDate(database.address, printLogs, anotherList);
    const name = await nameOf(database);
    print(
      from === to
        ? `The schema of ${name} was at version ${to} already.\n`
        : `Brought the schema of ${name} from version ${from} to ${to}.\n`,
    );
    return 0;
  },
);

const printLogs: LogEvent = (event) => {
  printLogMoved(event);
  if (event.event !== 'log-found') return;
  const { path, bytes, modified } = event;
  process.stderr.write(
    `The log ${path}, of ${bytes} bytes, last written at ${modified}, was left by a process that was killed, or by a ` +
      'program that had the file open: SQLite brings what is complete in it into the database\n',
  );
};
