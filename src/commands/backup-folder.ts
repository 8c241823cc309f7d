import { existsSync, lstatSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../lib/durable-files.ts';
import { messageOf } from '../lib/errors.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { printOneUnfinished } from './unfinished.ts';

/** The ending of a copy: of SQLite, or of an export of PostgreSQL. Neither counts for the other. */
type Ending = 'db' | 'jsonl';

/** A copy, an unfinished copy, and the files that SQLite keeps beside that. */
const FORM = /^(todos-\d{8}T\d{6}Z\.(db|jsonl))(\.\w+\.partial(?:-journal|-wal|-shm)?)?$/;

/** Milliseconds without a write, after which a run has ended. */
const ENDED_MS = 24 * 3_600_000;

/** Whether a word can only be a folder, or is an existing one. */
export function namesFolder(word: string): boolean {
  // A file has no such path, nor has a name that is too long.
  return word.endsWith('/') || existsSync(`${word}/.`);
}

/**
 * Makes a folder (0700) where it is missing, removes unfinished copies that are unchanged for a day, and names the
 * younger ones. Gives its absolute path; disposing of it removes a folder that was made and has no copy.
 *
 * @throws {OperatorError} `not-written`: it cannot be made or listed.
 */
export function openFolder(word: string, ending: Ending): { readonly path: string } & Disposable {
  using parts = new DisposableStack();
  const folder = resolve(word);
  try {
    parts.use(makeFolder(folder));
    const { unfinished } = filesOf(folder, ending);
    for (const begun of Map.groupBy(unfinished, ({ copy }) => copy).values()) {
      const ageMs = Date.now() - Math.max(...begun.map(({ writtenMs }) => writtenMs));
      for (const { path } of begun) {
        if (ageMs > ENDED_MS) for (const line of removed(path)) process.stderr.write(`${line}\n`);
        else if (path.endsWith('.partial')) printOneUnfinished(path, ageMs);
      }
    }
    const made = parts.move();
    return { path: folder, [Symbol.dispose]: () => made.dispose() };
  } catch (error) {
    throw new OperatorError('not-written', messageOf(error), { cause: error });
  }
}

/** The path of a copy that is begun at a moment, in milliseconds since 1970. */
export function copyOf(at: number, folder: string, ending: Ending): string {
  return join(folder, `todos-${new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '')}.${ending}`);
}

/** Removes the oldest copies, never `database`, so that `keep` are left. @returns why some stay, a line each. */
export function removeOldest(
  made: string,
  keep: number,
  ending: Ending,
  database: string | undefined,
): readonly string[] {
  const folder = dirname(made);
  try {
    const names = filesOf(folder, ending).copies.sort();
    const newest = join(folder, names.at(-1) ?? '');
    if (newest > made) {
      const isAhead = newest > copyOf(Date.now(), folder, ending);
      const why = isAhead ? 'now. Set the clock, or remove that file' : 'this one: another run has made it';
      return [`No older copy is removed: ${newest} is newer than ${why}`];
    }
    const own = database === undefined ? undefined : realpathSync(database);
    const oldest = names.slice(0, -keep).filter((name) => join(realpathSync(folder), name) !== own);
    return oldest.flatMap((name) => removed(join(folder, name)));
  } catch (error) {
    return [`No older copy is removed: ${messageOf(error)}`];
  }
}

/** Removes a file, which another run may have done. Gives the reason why it cannot be removed, a line for people. */
function removed(path: string): readonly string[] {
  try {
    rmSync(path, { force: true });
    return [];
  } catch (error) {
    return [`Cannot remove ${path}: ${messageOf(error)}`];
  }
}

/** Files of this form and ending, without links and folders of such names. `copy` is the name when it is finished. */
function filesOf(folder: string, ending: Ending) {
  const found = readdirSync(folder).flatMap((name) => {
    const [, copy = '', of, partial] = FORM.exec(name) ?? [];
    const path = join(folder, name);
    const stats = of === ending ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
    if (!stats?.isFile()) return [];
    return [{ path, copy, isPartial: partial !== undefined, size: stats.size, writtenMs: stats.mtimeMs }];
  });
  const begun = new Set(found.filter(({ isPartial }) => isPartial).map(({ copy }) => copy));
  // A run that ended while it named its copy has left an empty one beside it.
  const isUnfinished = ({ isPartial, size, copy }: (typeof found)[number]) =>
    isPartial || (size === 0 && begun.has(copy));
  return {
    unfinished: found.filter(isUnfinished),
    copies: found.filter((each) => !isUnfinished(each)).map(({ copy }) => copy),
  };
}
