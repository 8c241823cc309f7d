import { StoreUnavailable } from '../shared-list/store.ts';
import { type Category, categoryNameFault, type Maintenance } from '../storage/maintenance.ts';
import { LEFT_OUT } from '../storage/refusals.ts';
import { printCannot, readNumber, WrongUsage } from './command.ts';
import { DATABASE_HELP, onDatabase, openMaintenance } from './on-database.ts';
import { print } from './print.ts';

const LIST_HELP = `Usage: todo-service categories list [flags]

Prints id and name of every category, one a line with a tab between. The service may be running.

${DATABASE_HELP}

Exit codes: 0 printed, 2 wrong usage, 65 the SQLite file is empty, damaged or not of this service, 69 the database
cannot be used, 78 faults in the configuration.

Examples:
  todo-service categories list
  todo-service categories list --database sqlite:/var/lib/todo-service/todos.db
`;

const ADD_HELP = `Usage: todo-service categories add NAME [flags]

Adds a category and prints its id. The service may be running: todos can name it at once.
NAME has 1 to 100 characters on one line, no white space around it, and is not the name of another category.

${DATABASE_HELP}

Exit codes: 0 added, 1 there is a category of this name, 2 wrong usage, 65 the SQLite file is empty,
damaged or not of this service, 69 the database cannot be used, 78 faults in the configuration.

Examples:
  todo-service categories add Garden
  todo-service categories add 'Home and garden' --data-dir /var/lib/todo-service
`;

const RENAME_HELP = `Usage: todo-service categories rename ID NAME [flags]

Gives a category another name, with the rules of "categories add", and prints both. The service may be running: its
todos stay as they are, because no answer shows the name.

${DATABASE_HELP}

Exit codes: 0 the category has the name, 1 there is no such category, or another has the name, 2 wrong usage, 65 the
SQLite file is empty, damaged or not of this service, 69 the database cannot be used, 78 faults in the configuration.

Examples:
  todo-service categories rename 2 Home
`;

export const categoriesList = onDatabase(
  { action: 'list the categories', help: LIST_HELP },
  async (database) => {
    await using maintenance = await openMaintenance(database);
    const categories = await maintenance.listCategories();
    print(categories.map(lineOf).join(''));
    return 0;
  },
);

export const categoriesAdd = onDatabase(
  { action: 'add the category', operand: 'NAME', help: ADD_HELP },
  async (database, { NAME: name }) => {
    const fault = categoryNameFault(name);
    if (fault !== undefined) throw new WrongUsage(fault);
    await using maintenance = await openMaintenance(database);
    const added = await maintenance.addCategory(name);
    if (added === undefined)
      return await printWhy(maintenance, `add the category ${JSON.stringify(name)}`, name);
    print(`${added.id}\n`);
    return 0;
  },
);

export const categoriesRename = onDatabase(
  { action: 'rename the category', operand: 'ID NAME', help: RENAME_HELP },
  async (database, { ID: text, NAME: name }) => {
    const id = readNumber('ID', text);
    const fault = categoryNameFault(name);
    if (fault !== undefined) throw new WrongUsage(fault);
    await using maintenance = await openMaintenance(database);
    const renamed = await maintenance.renameCategory(id, name);
    if (renamed === undefined) return await printWhy(maintenance, `rename the category ${id}`, name, id);
    print(lineOf(renamed));
    return 0;
  },
);

/** Prints why no category has got this name. The result is the exit code. @throws {StoreUnavailable} for a trigger. */
async function printWhy(
  maintenance: Maintenance,
  action: string,
  name: string,
  id?: number,
): Promise<number> {
  const categories = await maintenance.listCategories();
  const isMissing = id !== undefined && categories.every((category) => category.id !== id);
  const isTaken = categories.some((category) => category.name === name && category.id !== id);
  if (!isMissing && !isTaken) throw new StoreUnavailable(`${LEFT_OUT}. "todo-service check" names it`);
  const reason = isMissing ? 'there is none with this id' : `another has the name ${JSON.stringify(name)}`;
  return printCannot(action, `${reason}. See "todo-service categories list".`, 'failed');
}

function lineOf({ id, name }: Category): string {
  return `${id}\t${name}\n`;
}
