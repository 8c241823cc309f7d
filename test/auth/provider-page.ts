import { readFileSync } from 'node:fs';

export const PAGE = readFileSync('docs/identity-providers.md', 'utf8');

/** A row of the table of docs/identity-providers.md. */
interface Row {
  readonly provider: string;
  /** To copy into the environment. */
  readonly settings: Readonly<Record<string, string>>;
  /** How the settings were tried. */
  readonly tried: string;
}

/** The rows of the page's first table. */
export const ROWS: readonly Row[] = tableOf(PAGE).map(([name = '', settings = '', , tried = '']) => ({
  provider: name.replace(/^\[(.*)\]\(.*\)$/, '$1'),
  settings: Object.fromEntries(
    settings.split('<br>').map((setting) => /^`(\w+)=([^`]+)`$/.exec(setting)?.slice(1) ?? [setting, '']),
  ),
  tried,
}));

function tableOf(page: string): readonly string[][] {
  const [, rows = ''] = /\n\|(?: -*\|?|---\|)+\n((?:\| .* \|\n)+)/.exec(page) ?? [];
  return rows.split('\n').flatMap((row) => (row === '' ? [] : [row.slice(2, -2).split(' | ')]));
}

/** The settings that the page has for a provider. */
export function settingsOf(provider: string): Readonly<Record<string, string>> {
  const row = ROWS.find((one) => one.provider === provider);
  if (row === undefined) throw new Error(`docs/identity-providers.md has no row for ${provider}`);
  return row.settings;
}
