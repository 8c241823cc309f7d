import { ADAPTERS } from '../adapters.ts';
import { readDatabaseConfig } from '../config.ts';
import type { Tell } from '../events.ts';
import type { Database } from '../store/database.ts';
import type { Operator } from '../store/operator.ts';
import { OutcomeUnknown, StoreUnavailable } from '../store/store.ts';
import { printCannot, printFaults, printNotOpened } from './faults.ts';
import { type CommandLine, flagsFor, type Given, readFlags, settingsHelp } from './flags.ts';

/** The flags of every command that works on the database. */
const DATABASE_VARIABLES = ['TODO_DATABASE', 'TODO_DATA_DIR'] as const;
const DATABASE_FLAGS = flagsFor(...DATABASE_VARIABLES);

/** What `--help` says of them. */
export const DATABASE_HELP = `\
${settingsHelp(DATABASE_VARIABLES)}
  -h, --help

A flag beats its variable.`;

/** A command that works on the database. */
interface DatabaseCommand<Operand extends string>
  extends Pick<CommandLine<typeof DATABASE_FLAGS, Operand>, 'command' | 'operand' | 'help'> {
  /** For people, after "Cannot". */
  readonly action: string;
  /** Beside those of the database. */
  readonly flags?: typeof DATABASE_FLAGS;
}

/**
 * Finds the database that flags and variables name and lets `work` use it, with what was given. What an operator
 * can mend is one line and the exit code: 2 wrong usage, 69 the database cannot be used, 75 a process serves it,
 * 78 faults in the configuration. Otherwise the exit code is that of `work`.
 */
export async function onDatabase<const Operand extends string = never>(
  { action, ...line }: DatabaseCommand<Operand>,
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  work: (database: Database, given: Given<typeof DATABASE_FLAGS, Operand>) => Promise<number>,
): Promise<number> {
  const given = readFlags({ ...line, flags: { ...DATABASE_FLAGS, ...line.flags } }, argv);
  if (typeof given === 'number') return given;
  const read = await readDatabaseConfig(given, env);
  if ('faults' in read) return printFaults(action, read.faults);
  try {
    return await work(read.database, given);
  } catch (error) {
    if (error instanceof StoreUnavailable || error instanceof OutcomeUnknown) {
      return printCannot(action, error.message, 69);
    }
    return printNotOpened(action, error);
  }
}

export async function openOperator({ engine, address }: Database): Promise<Operator> {
  const open = await ADAPTERS[engine].openOperator();
  return open(address);
}

/** Tells where the log went that stood beside a new SQLite file: that of one that was deleted. */
export const tellLogMoved: Tell = (event) => {
  if (event.event !== 'log-moved') return;
  const { path } = event;
  process.stderr.write(`Beside the new database was the log of one that was deleted: it is now ${path}\n`);
};
