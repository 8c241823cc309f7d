import { createWriteStream, existsSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { nameComplete, openNew, partialOf } from '../lib/durable-files.ts';
import { messageOf } from '../lib/errors.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { ADAPTERS } from '../server/engines.ts';
import type { ExportSource } from '../storage/transfer/contents.ts';
import { exportParts } from '../storage/transfer/write-export.ts';
import { printCannot } from './command.ts';
import { DATABASE_HELP, onDatabase } from './on-database.ts';
import { print } from './print.ts';
import { forReader, terminalProgress, totals } from './progress.ts';
import { endByItself, endBySignal } from './signals.ts';
import { printUnfinished } from './unfinished.ts';

const HELP = `Usage: todo-service export [FILE] [flags]

Writes the categories, all todos, the keys of creates of the last 24 hours and the highest id ever given out to FILE,
or to standard output: JSON Lines with a SHA-256 at the end (docs/moving-data.md), which "todo-service import" reads.
All are of one moment; the service may be running, and goes on writing. FILE must not exist. It has mode 0600, and is
called FILE.<random>.partial until it is complete and on disk. A SQLite file that no process has open, such as a
backup, may have an older schema.

${DATABASE_HELP}

Exit codes: 0 all was written, 2 wrong usage, 65 import would refuse rows, of which up to 100 are named, or the SQLite
file is empty, damaged or not of this service, 69 the database cannot be used, 74 FILE or standard output did not take
all of it, 78 faults in the configuration, 129, 130 or 143 ended by a signal. With any code but 0, there is no FILE,
and standard output has no last line, so that import refuses it.

Examples:
  todo-service export /backup/todos-$(date +%F).jsonl
  todo-service export --database sqlite:/backup/todos-2026-11-21.db old.jsonl
  todo-service export | TODO_DATABASE=postgres://todo@db.example/todos todo-service import -
`;

const STALLED =
  'Nobody has read for 60 s. As long as this export waits, SQLite cannot shorten its log, nor PostgreSQL vacuum.\n';

export const exportAll = onDatabase(
  { action: 'export', operand: '[FILE]', help: HELP },
  async (database, { '[FILE]': file = '-' }) => {
    const partial = partialOf(file);
    if (file !== '-') printUnfinished(file);
    endBySignal((name) => {
      if (file !== '-') rmSync(partial, { force: true });
      printCannot('export', `it was ended by ${name}, and is not complete`, 'failed');
    });
    const { openExport } = await ADAPTERS[database.engine].transfer();
    await using source = await openExport(database.address);
    if (file === '-') {
      await writeAll(source, process.stdout);
      endByItself();
    } else {
      await writeExport(source, file, partial);
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
  // The failed write itself reports the error.
  output.on('error', () => {});
  const write = (text: string) =>
    new Promise<void>((resolve, reject) => {
      output.write(text, (error) => (error ? reject(notWritten(error)) : resolve()));
    });
  for await (const { text, todos } of exportParts(source)) {
    await waiting(write(text));
    progress(todos);
  }
}

/** Writes an export to a file; a failure leaves none. @param check Called when it is on disk, before it is named. */
export async function writeExport(
  source: ExportSource,
  file: string,
  partial: string,
  check: () => Promise<unknown> = async () => {},
): Promise<void> {
  if (existsSync(file)) throw notWritten(new Error(`"${file}": there is something of this name already`));
  // `flush`: the file is on disk when the stream is closed.
  const output = createWriteStream(partial, { fd: makeNew(partial), flush: true });
  try {
    await writeAll(source, output);
    try {
      await finished(output.end());
      await check();
      nameComplete(partial, resolve(file));
      endByItself();
    } catch (error) {
      throw notWritten(error);
    }
  } catch (error) {
    await finished(output.destroy()).catch(() => {});
    // The first error explains more than that of the removal.
    await rm(partial, { force: true }).catch(() => {});
    throw error;
  }
}

/** Makes the file before a signal can come: a stream opens its file in a thread, perhaps after the removal. */
function makeNew(file: string): number {
  try {
    return openNew(file);
  } catch (error) {
    throw notWritten(error);
  }
}

function notWritten(error: unknown): OperatorError {
  return new OperatorError('not-written', messageOf(error), { cause: error });
}
