import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readFigures } from '../../bench/figures.ts';
import { tablesOf, withTables } from '../../bench/report.ts';

const PAGE = readFileSync('docs/sizing.md', 'utf8');

test('the tables of docs/sizing.md are those that bench/figures.json gives', () => {
  const tables = tablesOf(readFigures('bench/figures.json'));
  assert.ok(tables.length >= 6, `only ${tables.length} were made`);
  assert.equal(withTables(PAGE, tables), PAGE, 'npm run bench -- --draw makes them anew');
});

test('docs/sizing.md shows every chart, one for light and one for dark pages, and each is there', () => {
  const shown = [...PAGE.matchAll(/ src(?:set)?="(charts\/[\w-]+\.svg)"/g)].map(([, path]) => `docs/${path}`);
  assert.equal(shown.length, 6);
  assert.deepEqual(shown.toSorted(), globSync('docs/charts/*').toSorted());
  assert.ok(shown.every((path) => existsSync(path)));
});

test('docs/sizing.md names the machine of the figures', () => {
  const { machine } = readFigures('bench/figures.json');
  assert.ok(PAGE.includes(machine), `there is no "${machine}"`);
});
