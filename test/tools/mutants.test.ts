import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { project } from '../package/npm.ts';

test('every file that a part of the mutants names is there', () => {
  const text = readFileSync(new URL('../mutants/run.ts', import.meta.url), 'utf8');
  const named = Array.from(text.matchAll(/'((?:src|test)\/[^']+\.ts)'/g), ([, path = '']) => path);
  assert.ok(named.length > 15, `only ${named.length} files`);
  for (const path of named) assert.notDeepEqual(globSync(path, { cwd: project }), [], path);
});
