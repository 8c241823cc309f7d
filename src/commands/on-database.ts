import type { LogEvent } from '../events.ts';
import { readDatabaseConfig } from '../server/config.ts';
import { ADAPTERS } from '../server/engines.ts';
import type { Maintenance } from '../storage/maintenance.ts';
import type { DatabaseSettings } from '../storage/settings.ts';
import { type Command, type CommandLine, defineCommand, type Given } from './command.ts';
import { flagsFor, settingsHelp } from './flags.ts';

const DATABASE_VARIABLES = ['TODO_DATABASE', 'TODO_DATA_DIR'] as const;
export const DATABASE_FLAGS = flagsFor(...DATABASE_VARIABLES);

export const DATABASE_HELP = `\
${settingsHelp(DATABASE_VARIABLES)}
  -h, --help

A flag beats its variable.`;

/** A command that works on the database that flags and variables name. `flags` are those of the command alone. */
export function onDatabase<const Operand extends string = never>(
  line: Omit<CommandLine<typeof DATABASE_FLAGS, Operand>, 'flags'> & { flags?: typeof DATABASE_FLAGS },
  work: (database: DatabaseSettings, given: Given<typeof DATABASE_FLAGS, Operand>) => Promise<number>,
): Command {
  return defineCommand({ ...line, flags: { ...DATABASE_FLAGS, ...line.flags } }, async (given, env) =>
    work(await readDatabaseConfig(given, env), given),
  );
}

export async function openMaintenance({ engine, address }: DatabaseSettings): Promise<Maintenance> {
  const open = await ADAPTERS[engine].openMaintenance();
  return open(address);
}

/** Prints the new name of a log that stood beside a new SQLite file: it belongs to a deleted one. */
export const printLogMoved: LogEvent = (event) => {
  if (event.event !== 'log-moved') return;
  const { path } = event;
  process.stderr.write(`Beside the new database was the log of one that was deleted: it is now ${path}\n`);
};
