import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { VARIABLES } from '../../src/settings.ts';
import { runProgram } from '../start.ts';

const OURS = VARIABLES.filter((name) => name.startsWith('TODO_'));

test('serve --help names every variable TODO_… that is read, and no other', async () => {
  const { stdout } = await runProgram(['serve', '--help']);
  const named = new Set(stdout.match(/\bTODO_[A-Z_]*[A-Z]/g));
  assert.deepEqual([...named].sort(), [...OURS].sort());
});

test('the documents name every variable that is read, and no other', () => {
  // A client's examples have variables of the client.
  const paths = globSync(['README.md', 'docs/*.md']).filter((path) => path !== 'docs/client.md');
  const texts = paths.map((path) => readFileSync(path, 'utf8'));
  const named = new Set(texts.join('\n').match(/\b(?:TODO|OTEL)_[A-Z_]*[A-Z]\b/g));
  for (const name of VARIABLES) assert.ok(named.has(name), `${name} is in no document`);
  const known: readonly string[] = VARIABLES;
  const unknown = [...named].filter((name) => name.startsWith('TODO_') && !known.includes(name));
  assert.deepEqual(unknown, []);
});
