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
    bytes: zeros,
    perSecond: zeros,
  });
  figures.costs = { 10000: { one: { service: cost(service), constant: cost(constant) } } };
  return tablesOf(figures).find((table) => table.startsWith('| µs of a request |')) ?? '';
}

test('a ratio is the median of those of each round, whose servers were measured one after the other', () => {
  const table = tableOf([10, 20, 30, 40, 50], [5, 10, 15, 20, 20]);
  assert.match(table, /^\| todo-service \| 20\.0–40\.0 \(2\.00×\) \|/m);
});

test('the middle half of the rounds of a read stands for a median that it is more than 10 % away from', () => {
  assert.match(tableOf([10, 89, 100, 101, 102], [50, 50, 50, 50, 50]), / 89\.0–101 \(1\.78–2\.02×\) \|/);
  assert.match(tableOf([10, 90, 100, 110, 900], [5, 45, 50, 55, 450]), / 100 \(2\.00×\) \|/);
});

test('that of a write stands for it from 20 %', () => {
  const replaceOf = (service: number[], perSecond: number[]) => {
    const figures = noFigures('a machine');
    const replace = { service, postgres: zeros, bytes: zeros, perSecond };
    figures.costs = { 10000: { replace: { service: replace } } };
    return tablesOf(figures).join('\n');
  };
  assert.match(replaceOf([10, 80, 100, 120, 900], zeros), /^\| todo-service \| .* 100 \|$/m);
  assert.match(replaceOf([10, 79, 100, 120, 900], zeros), /^\| todo-service \| .* 79\.0–120 \|$/m);
  assert.match(replaceOf(zeros, [1, 2_000, 2_100, 2_200, 9_000]), /^\| todo-service \| .* 2,100 \|$/m);
});

test('a rate that a server has not reached is said, and no latency', () => {
  const figures = noFigures('a machine');
  const rounds = { p50: [1, 1, 1], p99: [2, 2, 2] };
  const one = {
    service: { ...rounds, perSecond: [999, 990, 951] },
    go: { ...rounds, perSecond: [940, 930, 1_000] },
  };
  figures.latency = { one };
  const [table = ''] = tablesOf(figures);
  assert.match(table, /^\| todo-service \| 1 \/ 2 \|/m);
  assert.match(table, /^\| Go \| only 940\/s \|/m);
});

test('instances are compared with one instance of the same round, and none of them has a whole core', () => {
  const figures = noFigures('a machine');
  const cost = { service: [20, 20, 20], postgres: [2, 2, 2], bytes: [1, 1, 1] };
  const one = {
    'instances-1': { ...cost, perSecond: [10_000, 8_000, 9_000] },
    'instances-2': { ...cost, perSecond: [20_000, 16_800, 18_000] },
  };
  figures.costs = { instances: { one } };
  assert.match(tablesOf(figures).join('\n'), /^\| 2 \| 18,000 \(2\.00×\) \|/m);
  assert.deepEqual(disturbed(figures), []);
});

test('what is measured beside others on PostgreSQL has tables of its own', () => {
  const figures = noFigures('a machine');
  const cost = { postgres: [2, 2, 2], bytes: [1, 1, 1], perSecond: [3_000, 3_000, 3_000] };
  figures.costs = {
    10000: { one: { 'service-postgresql': { ...cost, service: [10, 10, 10] } } },
    postgresql: { one: { 'service-postgresql': { ...cost, service: [20, 20, 20] } } },
  };
  figures.sizes = {
    postgresql: { 'service-postgresql': { memory: [90, 99], database: [1], firstList: [1] } },
  };
  const table = tablesOf(figures).join('\n\n');
  assert.match(
    table,
    /^\| µs on PostgreSQL \|.* memory, MB \|\n.*\n\| todo-service \| 20\.0 \+ 2\.00 \|.* 99\.0 \|$/m,
  );
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
  const cost = { service: [10, 10, 40], postgres: [2, 2, 2], bytes: [1, 1, 1] };
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
  const cost = { service: 1, postgres: 0, bytes: 0, perSecond: 0 };
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
