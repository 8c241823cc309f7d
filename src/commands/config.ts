import { quote, quoteReceived } from '../lib/quote.ts';
import { readConfig } from '../server/config.ts';
import { nameOf } from '../server/engines.ts';
import { type GivenFlags, givenAs } from '../settings/read.ts';
import { defaultOf, settingOf, VARIABLES, type Variable } from '../settings/table.ts';
import { defineCommand, printUnknownVariables } from './command.ts';
import { plain, SERVE_FLAGS, serveFlagsHelp } from './flags.ts';
import { print } from './print.ts';

const HELP = `Usage: todo-service config [flags]

Prints each setting that "todo-service serve" would have with the same flags and variables, and where it comes from.
Hides users, passwords and queries of addresses. Reads the files of keys and secrets, contacts neither database nor
issuer, and changes nothing.

${serveFlagsHelp()}

Exit codes: 0 printed, 2 wrong usage, 69 a file of a certificate for the database cannot be read, 78 faults in the
configuration: all of them, a line each.

Examples:
  todo-service config --environment development
  TODO_DATABASE=postgres://todo@db.example/todos todo-service config
`;

const LINE = { action: 'start', flags: SERVE_FLAGS, help: HELP };

export const config = defineCommand(LINE, async (given: GivenFlags, env) => {
  printUnknownVariables(env);
  const read = await readConfig(given, env);
  const { profile } = read.config;
  const database = profile.name === 'shared-list' ? await nameOf(profile.database) : '';

  function originOf(variable: Variable): string {
    const { name = 'default' } = givenAs(variable, env, given) ?? {};
    return name === variable ? 'variable' : name;
  }

  function inForce(variable: Variable): string | number | undefined {
    const value = read.inForce.get(variable);
    if (variable === 'TODO_DATABASE') return database;
    return variable === 'TODO_SOCKET' && value !== undefined ? `unix:${value}` : value;
  }

  const rows = VARIABLES.flatMap((variable) => {
    const origin = originOf(variable);
    if (!read.inForce.has(variable)) return origin === 'default' ? [] : [[variable, 'not used', origin]];
    return [[variable, shown(variable, inForce(variable)) ?? plain(defaultOf(variable)), origin]];
  });
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  print(rows.map((row) => `${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}\n`).join(''));
  return 0;
});

/** The value as it may be printed. An address may hold a password, also as `http:user:password@host` or with `\`. */
function shown(variable: Variable, value: string | number | undefined): string | undefined {
  if (typeof value !== 'string') return value?.toString();
  const mayHoldOne = settingOf(variable).is !== 'open';
  const isAddress = mayHoldOne && (value.includes('://') || Boolean(URL.parse(value)?.host));
  return (isAddress ? quoteReceived(value) : quote(value)).slice(1, -1);
}
