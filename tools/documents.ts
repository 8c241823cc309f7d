/** Writes what pages say that the code knows. A test fails when they are no longer the same. */
import { readFile, writeFile } from 'node:fs/promises';
import { defaultOf, flagOf, SETTINGS, VARIABLES, valuesOf } from '../src/settings/table.ts';

const ROOT = new URL('../', import.meta.url);

/** A page whose tables come from the code, as it is and as it should be. */
interface Page {
  readonly file: URL;
  readonly is: string;
  readonly shouldBe: string;
}

/** Every such page. */
export async function pages(): Promise<readonly Page[]> {
  return Promise.all([pageOf('configuration', /^\| Variable, .*?\n(?=\n)/ms, settingsTable)]);
}

/** A page with its table made anew. @throws {Error} when the table is not found: it would never change. */
async function pageOf(name: string, table: RegExp, make: () => string): Promise<Page> {
  const file = new URL(`docs/${name}.md`, ROOT);
  const is = await readFile(file, 'utf8');
  if (!table.test(is)) throw new Error(`No page has ${table}`);
  return { file, is, shouldBe: is.replace(table, make) };
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

if (import.meta.main) {
  for (const { file, shouldBe } of await pages()) await writeFile(file, shouldBe);
}
