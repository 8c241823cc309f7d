/** The tests that show each clause of the specification and of the contract, by their titles. */
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

const ROOT = new URL('../', import.meta.url);

/** Parts of the specification and of the contract in their order, with how the names of their clauses begin. */
const CHAPTERS = [
  ['What the service does', 'What the service does'],
  ['Resources and their fields', 'Resources', 'Problem Details body'],
  ['States and transitions', 'States'],
  ['Endpoints', 'Endpoints', 'Development-only endpoints'],
  ['Authentication', 'Authentication'],
  ['Errors', 'Errors'],
  ['Limits and versioning', 'Limits', 'Versioning'],
  ['Contract: order of checks', 'Order', 'One request gets one answer'],
  ['Contract: routes', 'R'],
  ['Contract: Problem Details', 'P', 'N'],
  ['Contract: requests with a body', 'B'],
  ['Contract: authentication', 'A'],
  ['Contract: profiles, environment, documents', 'D'],
  ['Contract: a create that may be repeated', 'I'],
  ['Contract: moving data', 'E'],
  ['Beyond both: what a client may use and need not', 'RFC 9110'],
] as const;

/** How the name of a clause begins, without its number. */
function partOf(clause: string): string {
  return /^([A-Z])\d+$/.exec(clause)?.[1] ?? clause;
}

/** A test that says which clauses it shows. */
export interface ClauseTest {
  readonly file: string;
  /** As `Order 1`, `Endpoints A, rule 1` or `B5`. */
  readonly clauses: readonly string[];
  readonly title: string;
  /** The title without its clauses. */
  readonly sentence: string;
}

/** All tests whose titles end with clauses in brackets; those of the suite that runs against any service come first. */
export async function clauseTests(): Promise<readonly ClauseTest[]> {
  const files = ['packages/conformance/src/chapters/*.ts', 'test/**/*.ts', 'src/**/*.test.ts'].flatMap(
    (pattern) => globSync(pattern, { cwd: ROOT }).sort(),
  );
  const found = await Promise.all(
    files.map(async (file) => {
      const titles = titlesIn(await readFile(new URL(file, ROOT), 'utf8'));
      return titles.flatMap((title): ClauseTest[] => {
        const [, sentence = '', names = ''] = /^(.+) \[([^[\]]+)\]$/.exec(title) ?? [];
        const clauses = clausesIn(names);
        return clauses.length === 0 ? [] : [{ file, clauses, title, sentence }];
      });
    }),
  );
  return found.flat();
}

/** The titles of the tests in a source file; of a table of cases, the template. */
export function titlesIn(source: string): readonly string[] {
  return [...source.matchAll(/\b(?:it|test)\(\s*(['"`])(.+?)\1/g)].map(([, , title = '']) => title);
}

/** The clauses in `Authentication 1; Endpoints A, rule 1`; empty for other words. */
export function clausesIn(names: string): readonly string[] {
  const parts = CHAPTERS.flatMap(([, ...names]): readonly string[] => names);
  const isClause = (name: string) =>
    parts.some((part) => (part.length === 1 ? partOf(name) === part : name.startsWith(part)));
  const clauses = names.split('; ');
  return clauses.every(isClause) ? clauses : [];
}

/** A clause, and below it each test with its file. */
function chapterOf(tests: readonly ClauseTest[]) {
  return ([title, ...parts]: (typeof CHAPTERS)[number]): string => {
    const all = new Set(tests.flatMap(({ clauses }) => clauses));
    const inNumericOrder = new Intl.Collator('en', { numeric: true }).compare;
    const rows = parts.flatMap((part) => {
      const ofPart = (clause: string) =>
        part.length === 1 ? partOf(clause) === part : clause.startsWith(part);
      return [...all]
        .filter(ofPart)
        .sort(inNumericOrder)
        .map((clause) => rowOf(clause, tests));
    });
    return `${title}\n\n${rows.join('')}`;
  };
}

function rowOf(clause: string, tests: readonly ClauseTest[]): string {
  const shown = tests.filter(({ clauses }) => clauses.includes(clause));
  return `  ${clause}\n${shown.map(({ file, sentence }) => `    ${file}: ${sentence}\n`).join('')}`;
}

if (import.meta.main) process.stdout.write(CHAPTERS.map(chapterOf(await clauseTests())).join('\n'));
