import { print } from '../print.ts';
import { categoryNameFault } from '../store/category-name.ts';
import { DATABASE_HELP, onDatabase, openOperator } from './database.ts';
import { printCannot } from './faults.ts';
import { wrongUsage } from './flags.ts';

const LIST_HELP = `Usage: todo-service categories list [flags]

Prints id and name of every category, one a line with a tab between. The service may be running.

${DATABASE_HELP}

Exit codes: 0 printed, 2 wrong usage, 69 the database cannot be used, 78 faults in the configuration.

Examples:
  todo-service categories list
  todo-service categories list --database sqlite:/var/lib/todo-service/todos.db
`;

const ADD_HELP = `Usage: todo-service categories add NAME [flags]

Adds a category and prints its id. The service may be running: todos can name it at once.
NAME has 1 to 100 characters on one line, no white space around it, and is not the name of another category.

${DATABASE_HELP}

Exit codes: 0 added, 1 there is a category of this name, 2 wrong usage, 69 the database cannot be used,
78 faults in the configuration.

Examples:
  todo-service categories add Garden
  todo-service categories add 'Home and garden' --data-dir /var/lib/todo-service
`;

/** `todo-service categories list`. The result is the exit code. */
export async function categoriesList(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const line = { command: 'categories list', action: 'list the categories', help: LIST_HELP };
  return onDatabase(line, argv, env, async (database) => {
    await using operator = await openOperator(database);
    const categories = await operator.listCategories();
    print(categories.map(({ id, name }) => `${id}\t${name}\n`).join(''));
    return 0;
  });
}

/** `todo-service categories add NAME`. The result is the exit code. */
export async function categoriesAdd(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const command = 'categories add';
  const line = { command, action: 'add the category', operand: 'NAME', help: ADD_HELP } as const;
  return onDatabase(line, argv, env, async (database, { NAME: name }) => {
    const fault = categoryNameFault(name);
    if (fault !== undefined) return wrongUsage(command, fault);
    await using operator = await openOperator(database);
    const added = await operator.addCategory(name);
    if (added === 'name-taken') {
      const reason = 'there is one of this name. See "todo-service categories list".';
      return printCannot(`add the category ${JSON.stringify(name)}`, reason, 1);
    }
    print(`${added.id}\n`);
    return 0;
  });
}
