/** The clauses of docs/contract.md, and the tests that show each of them, by their titles. */
import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

const ROOT = new URL('../', import.meta.url);

/** A chapter of the contract, with its clauses in their order. */
interface Chapter {
  /** `The specification` or `Our decisions`. */
  readonly part: string;
  readonly title: string;
  readonly clauses: readonly Clause[];
}

/** Where a page has a clause. */
export interface Clause {
  /** As `Order 1`, `Endpoints A, rule 1` or `B5`. */
  readonly name: string;
  readonly anchor: string;
}

/** The chapters of the contract. A clause begins an item: an anchor, and its name in bold. */
export function chapters(): readonly Chapter[] {
  const page = readFileSync(new URL('docs/contract.md', ROOT), 'utf8');
  const [, ...parts] = page.split(/^## /m);
  return parts.flatMap((text) => {
    const [part = '', ...rest] = text.split(/^### /m);
    return rest.map((chapter) => ({
      part: part.trim(),
      title: chapter.split('\n', 1)[0] ?? '',
      clauses: Array.from(
        chapter.matchAll(/^- <a id="([^"]+)"><\/a>\*\*(.+?)\*\*/gm),
        ([, anchor = '', name = '']) => ({ name, anchor }),
      ),
    }));
  });
}

/** A test that says which clauses it shows. */
export interface ClauseTest {
  readonly file: string;
  /** Names of clauses, and sections of RFCs. */
  readonly clauses: readonly string[];
  readonly title: string;
  /** The title without its clauses. */
  readonly sentence: string;
}

/** All tests whose titles end with clauses in brackets; those of the suite that runs against any service come first. */
export async function clauseTests(): Promise<readonly ClauseTest[]> {
  const files = ['packages/conformance/src/chapters/*.ts', 'test/**/*.ts', 'src/**/*.test.ts'].flatMap(
    (pattern) => globSync(pattern, { cwd: ROOT, exclude: ['**/node_modules'] }).sort(),
  );
  const found = await Promise.all(
    files.map(async (file) => {
      const titles = titlesIn(await readFile(new URL(file, ROOT), 'utf8'));
      return titles.flatMap((title): ClauseTest[] => {
        const [, sentence, names = ''] = /^(.+) \[([^[\]]+)\]$/.exec(title) ?? [];
        return sentence === undefined ? [] : [{ file, clauses: names.split('; '), title, sentence }];
      });
    }),
  );
  return found.flat();
}

/** The titles of the tests in a source file; of a table of cases, the template. */
export function titlesIn(source: string): readonly string[] {
  return [...source.matchAll(/\b(?:it|test)\(\s*(['"`])(.+?)\1/g)].map(([, , title = '']) => title);
}

/** A clause, and below it each test with its file. */
function rowOf(name: string, tests: readonly ClauseTest[]): string {
  const shown = tests.filter(({ clauses }) => clauses.includes(name));
  return `  ${name}\n${shown.map(({ file, sentence }) => `    ${file}: ${sentence}\n`).join('')}`;
}

if (import.meta.main) {
  const tests = await clauseTests();
  const sections = new Set(tests.flatMap(({ clauses }) => clauses.filter((name) => name.startsWith('RFC '))));
  const inNumericOrder = new Intl.Collator('en', { numeric: true }).compare;
  for (const [title, names] of [
    ...chapters().map(({ title, clauses }) => [title, clauses.map(({ name }) => name)] as const),
    ['Beyond the contract', [...sections].sort(inNumericOrder)] as const,
  ]) {
    process.stdout.write(`${title}\n\n${names.map((name) => rowOf(name, tests)).join('')}\n`);
  }
}
