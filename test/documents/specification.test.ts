import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { chapters, clauseTests, titlesIn } from '../../tools/clauses.ts';
import { pages } from '../../tools/documents.ts';
import { slug } from '../../tools/pages.ts';

/** What the specification and our decisions promise, by docs/contract.md. */
const CLAUSES = chapters().flatMap(({ clauses }) => clauses);

test('each page has the tables and links that the code makes', async () => {
  for (const { file, is, shouldBe } of await pages()) {
    assert.equal(is, shouldBe, `tools/documents.ts writes ${file.pathname} anew`);
  }
});

test('docs/contract.md has an anchor of its own for each clause, made of its name', () => {
  assert.ok(CLAUSES.length > 140, `only ${CLAUSES.length} clauses were found`);
  assert.equal(new Set(CLAUSES.map(({ anchor }) => anchor)).size, CLAUSES.length);
  assert.deepEqual(
    CLAUSES.filter(({ name, anchor }) => anchor !== slug(name)),
    [],
  );
});

test('every clause of the contract is shown by a test, whose file it links to', async () => {
  const tests = await clauseTests();
  assert.ok(tests.length > 600, `only ${tests.length} tests were found`);
  const shown = new Set(tests.flatMap(({ clauses }) => clauses));
  assert.deepEqual(
    CLAUSES.filter(({ name }) => !shown.has(name)),
    [],
  );
  const links = readFileSync('docs/contract.md', 'utf8').matchAll(/^- <a id.+\*\* \(\[test\]\([^)]+\)\)$/gm);
  assert.equal([...links].length, CLAUSES.length);
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

test('of the conformance suite, `it` states the checks of our decisions alone, and `test` the others', async () => {
  const ours = chapters().flatMap(({ part, clauses }) => (part === 'Our decisions' ? clauses : []));
  const decisions = new Set(ours.map(({ name }) => name));
  let titles = 0;
  for (const file of globSync('packages/conformance/src/chapters/*.ts')) {
    const calls = (await readFile(file, 'utf8')).matchAll(/\b(it|test)\(\s*(['`]).+? \[([^[\]]+)\]\2/g);
    for (const [, name, , clauses = ''] of calls) {
      const alone = clauses.split('; ').every((clause) => decisions.has(clause));
      assert.equal(name, alone ? 'it' : 'test', `${file}: ${clauses}`);
      titles += 1;
    }
  }
  assert.ok(titles > 100, `only ${titles} titles were found`);
});

test('no test names a clause that there is not', async () => {
  const known = new Set(CLAUSES.map(({ name }) => name));
  // Of a table of cases, a row names its own.
  const isUnknown = (name: string) => !known.has(name) && !name.startsWith('RFC ') && !name.startsWith('${');
  assert.deepEqual(
    (await clauseTests()).filter(({ clauses }) => clauses.some(isUnknown)),
    [],
  );
});

test('docs/decisions/0021-other-than-aspnet-core.md names in every row a clause that the conformance suite shows', async () => {
  const page = readFileSync('docs/decisions/0021-other-than-aspnet-core.md', 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Case '));
  assert.ok(rows.length > 25, `only ${rows.length} rows were found`);
  const suite = (await clauseTests()).filter(({ file }) => file.startsWith('packages/conformance/'));
  const shown = new Set(suite.flatMap(({ clauses }) => clauses));
  const isShown = (row: string) => {
    const named = [...row.matchAll(/\[([^\]]+)\]\(\.\.\/contract\.md#/g)];
    return named.length > 0 && named.every(([, clause = '']) => shown.has(clause));
  };
  assert.deepEqual(
    rows.filter((row) => !isShown(row)),
    [],
  );
});
