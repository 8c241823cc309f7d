import { ADAPTERS, nameOf } from '../adapters.ts';
import { DATABASE_HELP, onDatabase, tellLogMoved } from './database.ts';
import { print } from './print.ts';

const HELP = `Usage: todo-service migrate [flags]

Brings the schema of the database up to this program's version, and makes the first categories where there is
none. A SQLite file that does not exist is made. "serve" does the same at its start, unless "--no-migrate" is given.

${DATABASE_HELP}

Exit codes: 0 the schema is up to date, 2 wrong usage, 65 the SQLite file is empty, damaged or not of this
service, 69 the database cannot be used or is too new for it, 75 a process serves the SQLite file, 78 faults in the
configuration, or a server whose certificate is of an unknown authority or for another name.

Examples:
  todo-service migrate
  TODO_DATABASE=postgres://owner@db.example/todos todo-service migrate
`;

export const migrate = onDatabase({ action: 'migrate', help: HELP }, async (database) => {
  const bringUpToDate = await ADAPTERS[database.engine].migrate();
  const { from, to } = await bringUpToDate(database.address, tellLogMoved);
  const name = await nameOf(database);
  print(
    from === to
      ? `The schema of ${name} was at version ${to} already.\n`
      : `Brought the schema of ${name} from version ${from} to ${to}.\n`,
  );
  return 0;
});
