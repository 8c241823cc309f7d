import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const page = readFileSync('docs/scaling.md', 'utf8');

/** Thousands of todos of the example. */
const T = 200;

/** The rows of the table whose head begins like this, by their first cell. */
function tableUnder(head: string): ReadonlyMap<string, readonly string[]> {
  const lines = page.slice(page.indexOf(head)).split('\n\n')[0]?.split('\n').slice(2) ?? [];
  const rows = lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return new Map(rows.map(([name = '', ...cells]) => [name, cells]));
}

/** What a formula like `20.1 + 0.3 T` or `20.1 + 3 L` is at the example's size; 0 where there is none. */
function amountOf(formula: string): number {
  if (formula === '–') return 0;
  const amounts = formula.split(' + ').map((part) => {
    const [number = '', by] = part.replaceAll(',', '').split(' ');
    return Number(number) * (by === 'T' ? T : by === 'L' ? Math.log10(T) : 1);
  });
  return amounts.reduce((sum, amount) => sum + amount);
}

const formulas = tableUnder('| | SQLite | PostgreSQL |');
const columns = [0, 1, 2];

test('the worked example is what the formulas of the page give', () => {
  const example = [...tableUnder('| A second |')];
  assert.ok(example.length > 3);
  const sums = columns.map(() => 0);
  for (const [row, cells] of example.slice(0, -1)) {
    const [, rate, name] = /^(\d+) × (.+)$/.exec(row) ?? [];
    const formula = formulas.get(`${name}, µs`) ?? formulas.get(`${name}`);
    assert.ok(formula !== undefined, row);
    for (const index of columns) {
      const milliseconds: number = (amountOf(formula[index] ?? '') * Number(rate)) / 1_000;
      const shown = Number(cells[index]?.replace('–', '0'));
      assert.ok(Math.abs(shown - milliseconds) <= 0.5, `${row}: ${shown}, by the formula ${milliseconds}`);
      sums[index] = (sums[index] ?? 0) + shown;
    }
  }
  assert.deepEqual(example.at(-1)?.[1].map(Number), sums);
});
