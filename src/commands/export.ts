import { existsSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { nameComplete, partialOf } from '../files.ts';
import type { ExportSource } from '../store/transfer/contents.ts';
import { exportParts } from '../store/transfer/lines.ts';
import { DATABASE_HELP, onDatabase, transferOf } from './database.ts';
import { endBySignal } from './ending.ts';
import { print, printCannot } from './print.ts';
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

/** What is written cannot be written: EX_IOERR of sysexits.h. */
class NotWritten extends Error {
  override readonly name = 'NotWritten';
}

const STALLED =
  'Nobody has read for 60 s. As long as this export waits, SQLite cannot shorten its log, nor PostgreSQL vacuum.\n';

/** Where an export goes. */
interface Output {
  write(text: string): Promise<unknown>;
  /** It is complete. */
  finish(): Promise<void>;
}

/** `todo-service export [FILE]`. The result is the exit code. */
export async function exportAll(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const line = { command: 'export', action: 'export', operand: '[FILE]', help: HELP } as const;
  return onDatabase(line, argv, env, async (database, { '[FILE]': file = '-' }) => {
    const partial = partialOf(file);
    endBySignal((name) => {
      if (file !== '-') rmSync(partial, { force: true });
      printCannot('export', `it was ended by ${name}, and is not complete`, 1);
    });
    const { engine, address } = await transferOf(database);
    await using source = await engine.openExport(address);
    try {
      if (file === '-') await writeAll(source, standardOutput());
      else {
        await writeFile(source, file, partial);
        print(`${resolve(file)}: ${totals(source.counts, source.highestId)}\n`);
      }
      return 0;
    } catch (error) {
      if (error instanceof NotWritten) return printCannot('export', error.message, 74);
      throw error;
    }
  });
}

async function writeAll(source: ExportSource, output: Output): Promise<void> {
  const progress = terminalProgress('Exported');
  const waiting = forReader(
    () => source.check(),
    () => process.stderr.write(STALLED),
  );
  for await (const { text, todos } of exportParts(source)) {
    await waiting(asWritten(output.write(text)));
    progress(todos);
  }
  await asWritten(output.finish());
}

async function writeFile(source: ExportSource, file: string, partial: string): Promise<void> {
  if (existsSync(file)) throw new NotWritten(`"${file}": there is something of this name already`);
  let handle: FileHandle | undefined;
  try {
    handle = await asWritten(open(partial, 'wx', 0o600));
    const opened = handle;
    await writeAll(source, {
      write: (text) => opened.appendFile(text),
      finish: () => opened.sync(),
    });
    await asWritten(opened.close());
    await asWritten(Promise.resolve().then(() => nameComplete(partial, resolve(file))));
  } catch (error) {
    await handle?.close().catch(() => {});
    rmSync(partial, { force: true });
    throw error;
  }
}

function standardOutput(): Output {
  const { stdout } = process;
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  stdout.on('error', reject);
  const write = (text: string) =>
    Promise.race([failed, new Promise<void>((resolve) => stdout.write(text, () => resolve()))]);
  // A failure is told after the call back of what failed.
  return { write, finish: () => write('') };
}

async function asWritten<T>(written: Promise<T>): Promise<T> {
  try {
    return await written;
  } catch (error) {
    throw new NotWritten(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
