import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keep, merged, noFigures } from './figures.ts';
import { disturbed, tablesOf, withTables } from './report.ts';

const zeros = [0, 0, 0, 0, 0];

/** What one todo cost two servers in each round, as a table has it. */
function tableOf(service: number[], constant: number[]): string {
  const figures = noFigures('a machine');
  const cost = (times: number[]) => ({
    service: times,
    postgres: zeros,
    others: zeros,
    bytes: zeros,
    perSecond: zeros,
  });
  figures.costs = { 10000: { one: { service: cost(service), constant: cost(constant) } } };
  return tablesOf(figures).find((table) => table.startsWith('| µs of a request |')) ?? '';
}

test('a ratio is the median of those of each round, whose servers were measured one after the other', () => {
  const table = tableOf([10, 20, 30, 40, 50], [10, 10, 10, 20, 20]);
  assert.match(table, /^\| todo-service \| 30\.0 ±33% \(2\.00×( ±\d+%)?\) \|/m);
});

test('a figure of a read says its spread where the middle half of the rounds is wider than ± 20 %', () => {
  assert.match(tableOf([79, 79, 100, 101, 102], [50, 50, 50, 50, 50]), / 100 ±21% \(2\.00× ±21%\) \|/);
  assert.match(tableOf([10, 81, 100, 119, 900], [50, 50, 50, 50, 50]), / 100 \(2\.00×\) \|/);
});

test('a figure of a write always says its spread', () => {
  const figures = noFigures('a machine');
  const replace = {
    service: [99, 100, 100, 100, 101],
    postgres: zeros,
    others: zeros,
    bytes: zeros,
    perSecond: zeros,
  };
  figures.costs = { 10000: { replace: { service: replace } } };
  assert.match(tablesOf(figures).join('\n'), /^\| todo-service \| .* 100 ±0% \|$/m);
});

test('a rate that a server has not reached is said, and no latency', () => {
  const figures = noFigures('a machine');
  const rounds = { p50: [1, 1, 1], p99: [2, 2, 2], p999: [30, 30, 30] };
  const one = {
    service: { ...rounds, perSecond: [999, 990, 951] },
    go: { ...rounds, perSecond: [940, 930, 1_000] },
  };
  figures.latency = { one };
  const [table = ''] = tablesOf(figures);
  assert.match(table, /^\| todo-service \| 1\/2\/30 \|/m);
  assert.match(table, /^\| Go \| only 940\/s \|/m);
});

test('a page shows the tables, rows and columns that it has, with the figures of now', () => {
  const made = [
    '| ms | one | two |\n| --- | ---: | ---: |\n| go | 1 | 2 |\n| rust | 3 | 4 |',
    '| µs | one |',
  ];
  const page = (row: string) => `# Page\n\n| ms | two |\n| --- | ---: |\n${row}\n\nEnd\n`;
  assert.equal(withTables(page('| rust | 9 |'), made), page('| rust | 4 |'));
  assert.throws(() => withTables(page('| zig | 9 |'), made), /^Error: No figures are there for "zig"$/);
});

test('a round in which a server did not have its core is told: other programs ran', () => {
  const figures = noFigures('a machine');
  const cost = { service: [10, 10, 40], postgres: [2, 2, 2], others: [0, 0, 0], bytes: [1, 1, 1] };
  const one = {
    service: { ...cost, perSecond: [80_000, 80_000, 12_000] },
    go: { ...cost, perSecond: [80_000, 80_000, 21_000] },
  };
  figures.costs = { 20: { one } };
  assert.deepEqual(disturbed(figures), ['service had 50 % of its core, one of 20 todos']);
});

test('figures take the place of the same work, and never those of another machine', () => {
  const [old, next, foreign] = ['a', 'a', 'b'].map(noFigures);
  assert.ok(old && next && foreign);
  const cost = { service: 1, postgres: 0, others: 0, bytes: 0, perSecond: 0 };
  old.costs = { 20: {} };
  next.costs = { 20: {} };
  for (const [figures, server] of [
    [old, 'go'],
    [next, 'rust'],
  ] as const)
    keep(figures.costs[20] ?? {}, 'one', server, cost);
  keep(old.costs[20] ?? {}, 'list', 'go', cost);
  const both = merged(old, next).costs[20];
  assert.deepEqual(Object.keys(both?.one ?? {}), ['rust']);
  assert.deepEqual(Object.keys(both?.list ?? {}), ['go']);
  assert.throws(() => merged(old, foreign), /of another machine: a$/);
});
