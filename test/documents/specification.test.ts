import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { clausesIn, clauseTests, titlesIn } from '../../tools/clauses.ts';
import { pages } from '../../tools/documents.ts';

const numbered = (part: string, count: number, gap = ' ') =>
  Array.from({ length: count }, (_, index) => `${part}${gap}${index + 1}`);

/** What the specification and the contract number or name, and what must be shown. */
const CLAUSES = [
  ...numbered('What the service does', 6),
  ...['Resources, TodoResponse', 'Resources, ReplaceTodo', 'Resources, Category', 'Problem Details body'],
  ...['States', 'States B', 'Development-only endpoints', 'Limits', 'Versioning 1'],
  ...['GET /me', 'GET /todos', 'GET /todos/{id}', 'POST /todos', 'PUT /todos/{id}', 'DELETE /todos/{id}'].map(
    (endpoint) => `Endpoints A, ${endpoint}`,
  ),
  ...['GET /todos/{id}', 'POST /todos/{id}/complete', 'GET /crash'].map(
    (endpoint) => `Endpoints B, ${endpoint}`,
  ),
  ...numbered('Endpoints A, rule', 4),
  ...numbered('Authentication', 10),
  ...['Errors, 409', ...numbered('Errors', 6)],
  ...['One request gets one answer', ...numbered('Order', 5)],
  ...[...numbered('R', 9, ''), ...numbered('P', 8, ''), ...numbered('N', 5, ''), ...numbered('B', 12, '')],
  ...[...numbered('A', 15, ''), ...numbered('D', 23, ''), ...numbered('I', 6, ''), ...numbered('E', 7, '')],
];
test('each page has the tables that the code makes', async () => {
  for (const { file, is, shouldBe } of await pages()) {
    assert.equal(is, shouldBe, `tools/documents.ts writes ${file.pathname} anew`);
  }
});

test('every clause of the specification and of the contract is shown by a test', async () => {
  const tests = await clauseTests();
  assert.ok(tests.length > 600, `only ${tests.length} tests were found`);
  const shown = new Set(tests.flatMap(({ clauses }) => clauses));
  assert.deepEqual(
    CLAUSES.filter((clause) => !shown.has(clause)),
    [],
  );
});

test('every test of the conformance suite says which clause it shows', async () => {
  const told = new Set((await clauseTests()).map(({ title }) => title));
  let titles = 0;
  for (const file of globSync('packages/conformance/src/chapters/*.ts')) {
    for (const title of titlesIn(await readFile(file, 'utf8'))) {
      assert.ok(told.has(title), title);
      titles += 1;
    }
  }
  assert.ok(titles > 100, `only ${titles} titles were found`);
});

test('of the conformance suite, `it` states the checks of clauses of the contract alone, and `test` the others', async () => {
  const ofContract = /^(?:[A-Z]\d+|Order \d|One request gets one answer)$/;
  let titles = 0;
  for (const file of globSync('packages/conformance/src/chapters/*.ts')) {
    const calls = (await readFile(file, 'utf8')).matchAll(/\b(it|test)\(\s*(['`]).+? \[([^[\]]+)\]\2/g);
    for (const [, name, , clauses = ''] of calls) {
      const alone = clauses.split('; ').every((clause) => ofContract.test(clause));
      assert.equal(name, alone ? 'it' : 'test', `${file}: ${clauses}`);
      titles += 1;
    }
  }
  assert.ok(titles > 100, `only ${titles} titles were found`);
});

test('no test names a clause that there is not', async () => {
  const unknown = (clause: string) => !CLAUSES.includes(clause) && !clause.startsWith('RFC ');
  assert.deepEqual(
    (await clauseTests()).filter(({ clauses }) => clauses.some(unknown)),
    [],
  );
});

test('docs/where-decided.md cites tests that exist, in the file that it links to', async () => {
  const page = new URL('../../docs/where-decided.md', import.meta.url);
  const rows = (await readFile(page, 'utf8')).split('\n').filter((line) => line.startsWith('| '));
  const cited = rows.flatMap((row) => (row.split(' | ').at(-1) ?? '').split(/(?=\[)/));
  let titles = 0;
  for (const part of cited) {
    const file = /^\[[^\]]+\]\(([^)]+\.ts)\)/.exec(part)?.[1];
    if (file === undefined) continue;
    const known = titlesIn(await readFile(new URL(file, page), 'utf8'));
    assert.notEqual(known.length, 0, `${file} has no test`);
    for (const [, title = ''] of part.matchAll(/`([^`]+)`/g)) {
      assert.ok(known.includes(title), `no test in ${file} is called "${title}"`);
      titles += 1;
    }
  }
  assert.ok(titles > 3, `only ${titles} titles were found`);
});

test('docs/decisions/0021-other-than-aspnet-core.md names in every row a clause that the conformance suite shows', async () => {
  const page = readFileSync('docs/decisions/0021-other-than-aspnet-core.md', 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Case '));
  assert.ok(rows.length > 25, `only ${rows.length} rows were found`);
  const suite = (await clauseTests()).filter(({ file }) => file.startsWith('packages/conformance/'));
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
