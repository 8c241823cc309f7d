import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { PUBLISHED, published, readFigures } from '../../bench/figures.ts';
import { median, tablesOf, withTables } from '../../bench/report.ts';

const PAGE = readFileSync('docs/sizing.md', 'utf8');

test('the tables of docs/sizing.md have the figures that are published', () => {
  const tables = tablesOf(published());
  for (const first of [
    'Todos',
    'Instances',
    'µs of a request',
    'µs on PostgreSQL',
    'µs of one todo',
    'ms at 1,000/s',
    'ms on PostgreSQL at 1,000/s',
  ]) {
    assert.ok(PAGE.includes(`\n| ${first} |`), `the page has no "${first}"`);
    assert.ok(
      tables.some((table) => table.startsWith(`| ${first} |`)),
      `no figures give "${first}"`,
    );
  }
  assert.equal(withTables(PAGE, tables), PAGE, 'npm run bench -- --draw makes them anew');
});

test('docs/sizing.md says what a longer list costs', () => {
  const { costs } = published();
  const dearer = ['one', 'replace'].flatMap((work) =>
    ['service', 'service-postgresql'].map((server) => {
      const [much, less] = [1_000_000, 10_000].map((todos) => costs[todos]?.[work]?.[server]);
      assert.ok(much && less);
      return (median(much.service) + median(much.postgres)) / (median(less.service) + median(less.postgres));
    }),
  );
  assert.ok(Math.max(...dearer) < 4 / 3, `a third more, says the page: ${dearer}`);
});

test('docs/sizing.md shows every chart, one for light and one for dark pages, and each is there', () => {
  const shown = [...PAGE.matchAll(/ src(?:set)?="(charts\/[\w-]+\.svg)"/g)].map(([, path]) => `docs/${path}`);
  assert.equal(shown.length, 8);
  assert.deepEqual(shown.toSorted(), globSync('docs/charts/*').toSorted());
  assert.ok(shown.every((path) => existsSync(path)));
});

test('docs/sizing.md names the machines of the figures', () => {
  for (const { machine } of PUBLISHED.map(readFigures)) {
    assert.ok(PAGE.includes(machine), `there is no "${machine}"`);
  }
});
