import { nameOf } from '../server/engines.ts';
import type { Inspection } from '../storage/maintenance.ts';
import { DATABASE_HELP, onDatabase, openMaintenance } from './on-database.ts';
import { print } from './print.ts';

const HELP = `Usage: todo-service check [flags]

Prints engine, schema version, durability settings and counts of the database, and looks for damage, which SQLite's
integrity_check does, and for rows that import would refuse. Reads all rows. The service may be running. Changes no
data.

${DATABASE_HELP}

Exit codes: 0 no faults, 1 faults, a line "FAULT" each, 2 wrong usage, 65 the SQLite file is
empty, damaged or not of this service, 69 the database cannot be used, 78 faults in the configuration.

Examples:
  todo-service check
  TODO_DATABASE=postgres://todo@db.example/todos todo-service check
`;

export const check = onDatabase({ action: 'check the database', help: HELP }, async (database) => {
  await using maintenance = await openMaintenance(database);
  const inspection = await maintenance.inspect();
  print(describe(await nameOf(database), inspection));
  return inspection.faults.length === 0 ? 0 : 1;
});

function describe(name: string, { facts, faults }: Inspection): string {
  const rows = Object.entries({ database: name, ...facts });
  const width = Math.max(...rows.map(([fact]) => fact.length)) + 2;
  const lines = rows.map(([fact, value]) => `${fact.padEnd(width)}${value}`);
  const verdict = faults.length === 0 ? ['All is well.'] : faults.map((fault) => `FAULT  ${fault}`);
  return `${[...lines, ...verdict].join('\n')}\n`;
}
