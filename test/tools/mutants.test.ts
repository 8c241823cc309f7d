import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { PARTS } from '../mutants/parts.ts';
import { project } from '../package/npm.ts';

test('every file that a part of the mutants names is there', () => {
  for (const { source, tests } of Object.values(PARTS)) {
    for (const path of [...source, ...tests]) assert.notDeepEqual(globSync(path, { cwd: project }), [], path);
  }
});
