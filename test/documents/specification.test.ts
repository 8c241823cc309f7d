import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { test } from 'node:test';

const page = new URL('../../docs/specification.md', import.meta.url);

/** The rows of the contract, by id. */
const contractRows = [
  ...['Order 1', 'Order 2', 'Order 3', 'Order 4', 'Order 5'],
  ...['R1', 'R2', 'R3', 'R4', 'R5', 'R6', 'R7', 'R8'],
  ...['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'N1', 'N2', 'N3', 'N4', 'N5'],
  ...['B1', 'B2', 'B3', 'B4', 'B5', 'B6', 'B7', 'B8', 'B9', 'B10', 'B11', 'B12'],
  ...['A1', 'A2', 'A3', 'A4', 'A5', 'A6', 'A7', 'A8', 'A9', 'A10', 'A11', 'A12'],
  ...['D1', 'D2', 'D3', 'D4', 'D5', 'D6', 'D7', 'D8', 'D9', 'D11'],
  ...['I1', 'I2', 'I3', 'I4', 'I5', 'I6'],
];

interface Citation {
  readonly file: string;
  /** Undefined when the row names the file alone. */
  readonly title: string | undefined;
}

for (const [name, least] of [
  ['specification.md', 100],
  ['architecture.md', 10],
] as const) {
  test(`docs/${name} cites tests that exist, in the file that it links to`, async () => {
    const citations = citationsIn(await readFile(new URL(name, page), 'utf8'));
    assert.ok(citations.length > least, `only ${citations.length} citations were found`);
    for (const { file, title } of citations) {
      const titles = await titlesIn(new URL(file, page));
      assert.notEqual(titles.length, 0, `${file} has no test`);
      assert.ok(title === undefined || titles.includes(title), `no test in ${file} is called "${title}"`);
    }
  });
}

test('docs/specification.md has every row of the contract', async () => {
  const cells = (await readFile(page, 'utf8')).split('\n').map((line) => line.replace(/^\| /, ''));
  for (const row of contractRows) {
    assert.ok(
      cells.some((cell) => new RegExp(`^${row}[ ,]`).test(cell)),
      row,
    );
  }
});

for (const pattern of [
  '../conformance/src/chapters/*.ts',
  'shared-list/*.test.ts',
  'openapi/{document,error-demo,files,page,shared-list}.test.ts',
]) {
  test(`docs/specification.md cites every test in test/${pattern}`, async () => {
    const cited = new Set(citationsIn(await readFile(page, 'utf8')).map(({ title }) => title));
    const tests = new URL('../', import.meta.url);
    const titles: string[] = [];
    for await (const file of glob(pattern, { cwd: tests })) {
      titles.push(...(await titlesIn(new URL(file, tests))));
    }
    assert.ok(titles.length > 0);
    assert.deepEqual(
      titles.filter((title) => !cited.has(title)),
      [],
    );
  });
}

function citationsIn(markdown: string): readonly Citation[] {
  const rows = markdown.split('\n').filter((line) => line.startsWith('| '));
  return rows.flatMap((row) => {
    const cell = row.split(' | ').at(-1) ?? '';
    return cell.split(/(?=\[)/).flatMap((part): Citation[] => {
      const file = /^\[[^\]]+\]\(([^)]+)\)/.exec(part)?.[1];
      if (file === undefined) return [];
      const titles = [...part.matchAll(/`([^`]+)`/g)].map(([, title]) => title);
      return titles.length === 0 ? [{ file, title: undefined }] : titles.map((title) => ({ file, title }));
    });
  });
}

/** The titles of the tests in a source file; of a table of cases, the template. */
async function titlesIn(file: URL): Promise<readonly string[]> {
  const source = await readFile(file, 'utf8');
  return [...source.matchAll(/\btest\(\s*(['"`])(.+?)\1/g)].map(([, , title = '']) => title);
}
