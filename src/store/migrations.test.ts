import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Migrations } from './migrations.ts';

for (const [what, files, oldest] of [
  ['a file that names no program is for the one that knows it', ['', ''], 2],
  ['a file may name an older program', ['', '', '-- Oldest program: 2\n'], 2],
  ['what one file asks for, a later one does not take back', ['', '', '', '-- Oldest program: 1\n'], 3],
  ['a line that is misspelled names nobody', ['', '-- oldest program 1\n'], 2],
] as const) {
  test(what, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'todo-migrations-'));
    t.after(() => rmSync(folder, { recursive: true }));
    for (const [index, text] of files.entries()) writeFileSync(join(folder, `000${index + 1}-x.sql`), text);
    assert.equal(new Migrations(pathToFileURL(`${folder}/`)).oldestProgram, oldest);
  });
}

for (const oldestProgram of [3, 0, -1, Number.NaN]) {
  test(`a newer schema that says ${oldestProgram} is for the program that made it alone`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'todo-migrations-'));
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, '0001-x.sql'), '');
    const migrations = new Migrations(pathToFileURL(`${folder}/`));
    assert.match(
      migrations.faultOf({ version: 3, oldestProgram }) ?? '',
      /^its schema must be version 1 or older, received 3, for programs from 3 on: /,
    );
  });
}
