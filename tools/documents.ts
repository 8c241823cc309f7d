/** Writes what pages say that the code knows. A test fails when they are no longer the same. */
import { readFile, writeFile } from 'node:fs/promises';
import { defaultOf, flagOf, settingOf, VARIABLES, type Variable, valuesOf } from '../src/settings/table.ts';
import { type ClauseTest, clauseTests } from './clauses.ts';

const ROOT = new URL('../', import.meta.url);

/** A page of which parts come from the code, as it is and as it should be. */
interface Page {
  readonly file: URL;
  readonly is: string;
  readonly shouldBe: string;
}

/** Every such page. */
export async function pages(): Promise<readonly Page[]> {
  const tests = await clauseTests();
  return Promise.all([
    pageOf('configuration', /^## You need these three\n.*?(?=^## Lists\n)/ms, settingsByGroup),
    pageOf('contract', /(?<=^- <a id.+\*\*(.+?)\*\*).*$/gm, (link, name) => linkOf(name, link, tests)),
  ]);
}

/** A page with a part made anew. @throws {Error} when the part is not found: it would never change. */
async function pageOf(
  name: string,
  part: RegExp,
  make: (part: string, group: string) => string,
): Promise<Page> {
  const file = new URL(`docs/${name}.md`, ROOT);
  const is = await readFile(file, 'utf8');
  if (is.search(part) === -1) throw new Error(`No page has ${part}`);
  return { file, is, shouldBe: is.replace(part, make) };
}

/** What each module may import, and what it may name by type alone, by the table of docs/architecture.md. */
export function modulesIn(
  page: string,
): ReadonlyMap<string, { readonly imports: readonly string[]; readonly types: readonly string[] }> {
  const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const names = (cell = '') => Array.from(cell.matchAll(/`([^`]+)`/g), ([, name = '']) => name);
  return new Map(
    rows
      .filter((cells) => cells.length === 6 && /^(?:`[\w.-]+`(?:, )?)+$/.test(cells[1] ?? ''))
      .flatMap(([, modules, , imports, types]) =>
        names(modules).map((module) => [module, { imports: names(imports), types: names(types) }] as const),
      ),
  );
}

/** The link of a clause to a file with a test that shows it: the present one while it does, else to that with most. */
function linkOf(clause: string, link: string, tests: readonly ClauseTest[]): string {
  const files = tests.filter(({ clauses }) => clauses.includes(clause)).map(({ file }) => `../${file}`);
  const shows = (file: string) => files.filter((other) => other === file).length;
  const kept = files.find((file) => link.includes(`(${file})`));
  const [most = ''] = files.toSorted((one, other) => shows(other) - shows(one));
  return ` ([test](${kept ?? most}))`;
}

/** The groups of docs/configuration.md in their order. A setting is in the first one that has its name. */
const GROUPS: readonly (readonly [heading: string, names: RegExp])[] = [
  ['You need these three', /^TODO_(?:AUTH_ISSUER|AUTH_AUDIENCE|DATABASE)$/],
  ['Profile and environment', /^TODO_(?:PROFILE|ENVIRONMENT)$/],
  ['Database', /^TODO_(?:DATA_DIR|DATABASE_|CACHE_)/],
  ['Tokens', /^TODO_AUTH_|_PROXY$/],
  ['Network', /^TODO_(?:HOST|PORT|SOCKET|CORS|MAX|KEEP|SHUTDOWN|ADMIN)|^LISTEN_/],
  ['Log', /^TODO_(?:LOG|AUDIT)/],
  ['Traces', /^OTEL_/],
];

/** A heading for each setting, which a link can name. @throws {Error} when a setting has no group. */
function settingsByGroup(): string {
  const groupOf = (variable: Variable) => GROUPS.find(([, names]) => names.test(variable));
  const missing = VARIABLES.filter((variable) => groupOf(variable) === undefined);
  if (missing.length > 0) throw new Error(`GROUPS must have ${missing.join(', ')}`);
  const lines = VARIABLES.map(forTracesAlone);
  const sections = GROUPS.map((group) => {
    const settings = VARIABLES.filter((variable) => groupOf(variable) === group && !lines.includes(variable));
    return `## ${group[0]}\n\n${settings.map(sectionOf).join('')}`;
  });
  return sections.join('');
}

/** The variable for traces alone that takes the same values: a line in the section of the general one. */
function forTracesAlone(variable: Variable): Variable | undefined {
  const name = variable.replace(/_OTLP_(?!TRACES_)/, '_OTLP_TRACES_');
  return VARIABLES.find(
    (other) => other === name && other !== variable && valuesOf(other) === valuesOf(variable),
  );
}

function sectionOf(variable: Variable): string {
  const setting = settingOf(variable);
  const flag = flagOf(variable);
  const alone = forTracesAlone(variable);
  const otherwise = defaultOf(variable);
  const values = valuesOf(variable);
  const example = 'text' in setting ? `\`${setting.example}\`` : values;
  const facts = [
    ...(flag === undefined ? [] : [`Flag: \`--${flag}\``]),
    `Values: ${values}${values.includes(example) ? '' : `, like ${example}`}${otherwise === 'none' ? '' : ` (default ${otherwise})`}`,
    ...(alone === undefined ? [] : [`${settingOf(alone).about}: \`${alone}\``]),
  ];
  const lines = [`${setting.about}.`, '', ...facts.map((fact) => `- ${fact}`)];
  return `### \`${variable}\`\n\n${lines.join('\n').replaceAll('(configuration.md#', '(#')}\n\n`;
}

if (import.meta.main) {
  for (const { file, shouldBe } of await pages()) await writeFile(file, shouldBe);
}
