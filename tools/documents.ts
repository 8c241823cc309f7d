/** `npm run documents`: writes what pages say that the code knows. A test fails when they are no longer the same. */
import { readFile, writeFile } from 'node:fs/promises';
import { defaultOf, flagOf, SETTINGS, VARIABLES, valuesOf } from '../src/settings.ts';

/** A page whose tables come from the code, as it is and as it should be. */
interface Page {
  readonly file: URL;
  readonly is: string;
  readonly shouldBe: string;
}

/** Every such page. */
export async function pages(): Promise<readonly Page[]> {
  const file = new URL('../docs/configuration.md', import.meta.url);
  const is = await readFile(file, 'utf8');
  return [{ file, is, shouldBe: is.replace(/^\| Variable .*?\n(?=\n)/ms, settingsTable) }];
}

function settingsTable(): string {
  const rows = VARIABLES.map((variable) => {
    const flag = flagOf(variable);
    const cells = [defaultOf(variable), valuesOf(variable), SETTINGS[variable].about];
    return `| \`${variable}\` |${flag === undefined ? '' : ` \`${flag}\``} | ${cells.join(' | ')} |\n`;
  });
  const head =
    '| Variable | Flag | Default | Values | What it is, and when to touch it |\n|---|---|---|---|---|\n';
  return [head, ...rows].join('');
}

if (import.meta.main) {
  for (const { file, shouldBe } of await pages()) await writeFile(file, shouldBe);
}
