import { createWriteStream, existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ADAPTERS } from '../adapters.ts';
import { messageOf, nameComplete, partialOf } from '../files.ts';
import type { ExportSource } from '../store/transfer/contents.ts';
import { exportParts } from '../store/transfer/lines.ts';
import { CommandFailed, printCannot } from './command.ts';
import { DATABASE_HELP, onDatabase } from './database.ts';
import { endBySignal } from './ending.ts';
import { print } from './print.ts';
import { forReader, terminalProgress, totals } from './progress.ts';

const HELP = `Usage: todo-service export [FILE] [flags]

Writes the categories, all todos, the keys of creates of the last 24 hours and the highest id ever given out to FILE, or
to standard output: JSON Lines with a SHA-256 at the end (docs/moving-data.md), which "todo-service import" reads. They
are of one moment; the service may be running, and goes on writing. FILE must not exist. It has mode 0600, and is called
FILE.<process id>.partial until it is complete and on disk. A SQLite file that nobody has open, such as a backup, may
have an older schema.

${DATABASE_HELP}

Exit codes: 0 all was written, 2 wrong usage, 69 the database cannot be used, 74 FILE or standard output did not take
all of it, 78 faults in the configuration, 130 or 143 ended by a signal. Unless it is 0, there is no FILE, and what
standard output got has no last line, so that import refuses it.

Examples:
  todo-service export /backup/todos-$(date +%F).jsonl
  todo-service export --database sqlite:/backup/todos-2026-11-21.db old.jsonl
  todo-service export | TODO_DATABASE=postgres://todo@db.example/todos todo-service import -
`;

const STALLED =
  'Nobody has read for 60 s. As long as this export waits, SQLite cannot shorten its log, nor PostgreSQL vacuum.\n';

/** `todo-service export [FILE]`. */
export const exportAll = onDatabase(
  { action: 'export', operand: '[FILE]', help: HELP },
  async (database, { '[FILE]': file = '-' }) => {
    const partial = partialOf(file);
    endBySignal((name) => {
      if (file !== '-') rmSync(partial, { force: true });
      printCannot('export', `it was ended by ${name}, and is not complete`, 1);
    });
    const { openExport } = await ADAPTERS[database.engine].transfer();
    await using source = await openExport(database.address);
    if (file === '-') await writeAll(source, process.stdout);
    else {
      await writeFile(source, file, partial);
      print(`${resolve(file)}: ${totals(source.counts, source.highestId)}\n`);
    }
    return 0;
  },
);

async function writeAll(source: ExportSource, output: Writable): Promise<void> {
  const progress = terminalProgress('Exported');
  const waiting = forReader(
    () => source.check(),
    () => process.stderr.write(STALLED),
  );
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  output.on('error', (error) => reject(notWritten(error)));
  const write = (text: string) =>
    Promise.race([failed, new Promise<void>((resolve) => output.write(text, () => resolve()))]);
  for await (const { text, todos } of exportParts(source)) {
    await waiting(write(text));
    progress(todos);
  }
  // A failure is told after the call back of what failed.
  await write('');
}

async function writeFile(source: ExportSource, file: string, partial: string): Promise<void> {
  if (existsSync(file)) throw notWritten(new Error(`"${file}": there is something of this name already`));
  // On disk when it is closed.
  const output = createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true });
  try {
    await writeAll(source, output);
    try {
      await finished(output.end());
      nameComplete(partial, resolve(file));
    } catch (error) {
      throw notWritten(error);
    }
  } catch (error) {
    await finished(output.destroy()).catch(() => {});
    rmSync(partial, { force: true });
    throw error;
  }
}

/** EX_IOERR of sysexits.h. */
function notWritten(error: unknown): CommandFailed {
  return new CommandFailed(messageOf(error), 74, { cause: error });
}
