import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '../../test/support/folder.ts';
import { Migrations } from './migrations.ts';

/** The migrations of files with these texts. */
async function migrationsOf(...files: readonly string[]): Promise<Migrations> {
  await using folder = await temporaryFolder();
  for (const [index, text] of files.entries()) await folder.write(`000${index + 1}-x.sql`, text);
  const migrations = new Migrations(pathToFileURL(`${folder.path}/`));
  // The files are read once.
  assert.deepEqual(migrations.from(0), files);
  return migrations;
}

for (const [what, files, oldest] of [
  ['a file that names no program is for the one that knows it', ['', ''], 2],
  ['a file may name an older program', ['', '', '-- Oldest program: 2\n'], 2],
  ['what one file asks for, a later one does not take back', ['', '', '', '-- Oldest program: 1\n'], 3],
  ['a line that is misspelled names nobody', ['', '-- oldest program 1\n'], 2],
] as const) {
  test(what, async () => {
    assert.equal((await migrationsOf(...files)).oldestProgram, oldest);
  });
}

for (const oldestProgram of [3, 0, -1, Number.NaN]) {
  test(`a newer schema that says ${oldestProgram} is for the program that made it alone`, async () => {
    const migrations = await migrationsOf('');
    assert.match(
      migrations.faultOf({ version: 3, oldestProgram }) ?? '',
      /^its schema must be version 1 or older, received 3, for programs from 3 on: /,
    );
  });
}
