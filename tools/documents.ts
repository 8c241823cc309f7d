/** `npm run documents`: writes what pages say that the code knows. A test fails when they are no longer the same. */
import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { defaultOf, flagOf, SETTINGS, VARIABLES, valuesOf } from '../src/settings.ts';
import { picture } from './imports.ts';

const ROOT = new URL('../', import.meta.url);

/** A page whose tables come from the code, as it is and as it should be. */
interface Page {
  readonly file: URL;
  readonly is: string;
  readonly shouldBe: string;
}

/** Every such page. */
export async function pages(): Promise<readonly Page[]> {
  const clauses = CHAPTERS.map(chapterOf(await clauseTests())).join('\n');
  const pictureIn = (page: string) => picture(new Set(modulesIn(page).keys()));
  return Promise.all([
    pageOf('configuration', /^\| Variable, .*?\n(?=\n)/ms, settingsTable),
    pageOf('architecture', /(?<=```mermaid\n)flowchart TD\n[^`]*/, pictureIn),
    pageOf('specification', /^## .*/ms, () => clauses),
  ]);
}

/** A page with its table made anew. @throws {Error} when the table is not found: it would never change. */
async function pageOf(name: string, table: RegExp, make: (page: string) => string): Promise<Page> {
  const file = new URL(`docs/${name}.md`, ROOT);
  const is = await readFile(file, 'utf8');
  if (!table.test(is)) throw new Error(`No page has ${table}`);
  return { file, is, shouldBe: is.replace(table, () => make(is)) };
}

/** What each module may import, and what it may name by type alone, by the table of docs/architecture.md. */
export function modulesIn(
  page: string,
): ReadonlyMap<string, { readonly imports: readonly string[]; readonly types: readonly string[] }> {
  const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const names = (cell = '') => Array.from(cell.matchAll(/`([^`]+)`/g), ([, name = '']) => name);
  return new Map(
    rows
      .filter((cells) => cells.length === 6 && /^`[\w.-]+`$/.test(cells[1] ?? ''))
      .map(([, module, , imports, types]) => [
        names(module)[0] ?? '',
        { imports: names(imports), types: names(types) },
      ]),
  );
}

function settingsTable(): string {
  const rows = VARIABLES.map((variable) => {
    const flag = flagOf(variable);
    const name = flag === undefined ? `\`${variable}\`` : `\`${variable}\`, \`--${flag}\``;
    const value = defaultOf(variable).replace(/^none(?:: )?/, '');
    return `| ${[name, value, valuesOf(variable), SETTINGS[variable].about].join(' | ').replace('|  |', '| |')} |\n`;
  });
  const head =
    '| Variable, flag | Default | Values | What it is, and when to touch it |\n|---|---|---|---|\n';
  return [head, ...rows].join('');
}

/** Parts of the specification and of the contract in their order, with how the names of their clauses begin. */
const CHAPTERS = [
  ['What the service does', 'What the service does'],
  ['Resources and their fields', 'Resources', 'Problem Details body'],
  ['States and transitions', 'States'],
  ['Endpoints', 'Endpoints', 'Development-only endpoints'],
  ['Authentication', 'Authentication'],
  ['Errors', 'Errors'],
  ['Limits and versioning', 'Limits', 'Versioning'],
  ['Contract: order of checks', 'Order'],
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

/** All tests whose titles begin with clauses; those of the suite that runs against any service come first. */
export async function clauseTests(): Promise<readonly ClauseTest[]> {
  const files = ['conformance/src/chapters/*.ts', 'test/**/*.ts', 'src/**/*.test.ts'].flatMap((pattern) =>
    globSync(pattern, { cwd: ROOT }).sort(),
  );
  const found = await Promise.all(
    files.map(async (file) => {
      const titles = titlesIn(await readFile(new URL(file, ROOT), 'utf8'));
      return titles.flatMap((title): ClauseTest[] => {
        const [head = '', ...rest] = title.split(' · ');
        const clauses = clausesIn(head);
        return rest.length === 0 || clauses.length === 0
          ? []
          : [{ file, clauses, title, sentence: rest.join(' · ') }];
      });
    }),
  );
  return found.flat();
}

/** The titles of the tests in a source file; of a table of cases, the template. */
export function titlesIn(source: string): readonly string[] {
  return [...source.matchAll(/\btest\(\s*(['"`])(.+?)\1/g)].map(([, , title = '']) => title);
}

/** `Authentication 1, 2` are two clauses of one part, `Endpoints A, rule 1` is one; empty for other words. */
export function clausesIn(head: string): readonly string[] {
  const clauses: string[] = [];
  const parts = CHAPTERS.flatMap(([, ...names]): readonly string[] => names);
  for (const piece of head.split(', ')) {
    const last = clauses.at(-1);
    const isClause = parts.some((part) =>
      part.length === 1 ? partOf(piece) === part : piece.startsWith(part),
    );
    if (isClause) clauses.push(piece);
    else if (last === undefined) return [];
    else if (/^\d+$/.test(piece) && /\d$/.test(last)) clauses.push(last.replace(/\d+$/, piece));
    else clauses[clauses.length - 1] = `${last}, ${piece}`;
  }
  return clauses;
}

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
    return `## ${title}\n\n| Clause | Shown by |\n|---|---|\n${rows.join('')}`;
  };
}

function rowOf(clause: string, tests: readonly ClauseTest[]): string {
  const byFile = Map.groupBy(
    tests.filter(({ clauses }) => clauses.includes(clause)),
    ({ file }) => file,
  );
  const cited = Array.from(byFile, ([file, shown]) => {
    const sentences = shown.map(({ sentence }) => `\`${sentence.replaceAll('|', '\\|')}\``);
    return `[${basename(file).replace(/\..*/, '')}](../${file}) ${sentences.join(' ')}`;
  });
  return `| ${clause} | ${cited.join(' ')} |\n`;
}

if (import.meta.main) {
  for (const { file, shouldBe } of await pages()) await writeFile(file, shouldBe);
}
