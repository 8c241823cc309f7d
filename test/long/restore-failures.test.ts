import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { backupSqlite } from '../../src/storage/sqlite/maintenance.ts';
import { compileDisk, noDisk } from '../storage/disk.ts';
import { execute, newDatabase, newPath } from '../storage/new-files.ts';

const PROCESS = fileURLToPath(new URL('../storage/failing-restores.ts', import.meta.url));

const ADD = (title: string) => `INSERT INTO todos (title, category_id) VALUES ('${title}', 1)`;

/** A database with a todo of this title. */
async function databaseOf(title: string): Promise<string> {
  const path = await newDatabase();
  execute(path, ADD(title));
  return path;
}

async function makeDamaged(folder: string): Promise<void> {
  for (const name of ['todos.db', 'todos.db-wal', 'todos.db-journal'])
    writeFileSync(join(folder, name), `no database at all, ${name}`.repeat(100));
}

for (const [what, make, unknown, ...lasting] of [
  [
    'a sound database',
    async (folder: string) => cpSync(await databaseOf('mine'), join(folder, 'todos.db')),
    /, a sync: nobody knows whether it was done: disk I\/O error\. The old database is /,
  ],
  [
    'a damaged database with its log and its journal',
    makeDamaged,
    /, a sync: nobody knows whether it was done: EIO.+\. The old database is /,
  ],
  [
    'a damaged database with both, on a disk on which all later steps fail too,',
    makeDamaged,
    /: nobody knows whether \S+Z-journal and \S+Z-wal got the old name again: EIO.+\. The old database is /,
    '+',
  ],
  [
    'no database beside an old log',
    async (folder: string) => writeFileSync(join(folder, 'todos.db-wal'), 'an old log'),
    /, a sync: nobody knows whether it was done: EIO[^.]+$/m,
  ],
] as const) {
  test(`a restore over ${what} of which a step fails, whichever, leaves it as it was, unless nobody knows [E3]`, {
    skip: noDisk(),
  }, async () => {
    const [before, folder, failing, copy] = ['before', 'work', 'failing', 'b.db'].map((name) =>
      newPath(name),
    );
    assert.ok(before !== undefined && folder !== undefined && failing !== undefined && copy !== undefined);
    mkdirSync(before);
    await make(before);
    await backupSqlite(await databaseOf('saved'), copy);
    const env = {
      ...process.env,
      ...(await compileDisk(dirname(failing))),
      DISK_FOLDER: folder,
      DISK_FAILING: failing,
    };
    const words = [PROCESS, before, folder, copy, ...lasting];
    const { stdout } = await promisify(execFile)(process.execPath, words, { env });
    for (const step of ['sync', 'rename', 'removal']) assert.match(stdout, new RegExp(`, a ${step}`));
    assert.match(stdout, unknown);
  });
}
