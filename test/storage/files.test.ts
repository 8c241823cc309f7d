import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nameComplete, partialOf } from '../../src/lib/durable-files.ts';
import { temporaryFolder } from '../support/folder.ts';

test('a complete file gets its name, and replaces none that has got it meanwhile', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'copy');
  const partial = partialOf(file);
  writeFileSync(partial, 'first');
  nameComplete(partial, file);
  writeFileSync(partial, 'second');
  assert.throws(() => nameComplete(partial, file), { code: 'EEXIST' });
  assert.equal(readFileSync(file, 'utf8'), 'first');
  assert.equal(readFileSync(partial, 'utf8'), 'second');
});

test('a complete file that cannot get its name leaves nothing of that name', async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, 'copy');
  assert.throws(() => nameComplete(partialOf(file), file), { code: 'ENOENT' });
  assert.deepEqual(readdirSync(folder.path), []);
});
