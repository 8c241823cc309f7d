import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { clausesIn, clauseTests } from '../../tools/documents.ts';

test('docs/aspnet-core.md names in every row a clause that the conformance suite shows', async () => {
  const page = readFileSync('docs/aspnet-core.md', 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Case '));
  assert.ok(rows.length > 25, `only ${rows.length} rows were found`);
  const suite = (await clauseTests()).filter(({ file }) => file.startsWith('conformance/'));
  const shown = new Set(suite.flatMap(({ clauses }) => clauses));
  const isShown = (row: string) => {
    const named = clausesIn(/ \(([^()]+)\) \|/.exec(row)?.[1] ?? '');
    return named.length > 0 && named.every((clause) => shown.has(clause));
  };
  assert.deepEqual(
    rows.filter((row) => !isShown(row)),
    [],
  );
});
