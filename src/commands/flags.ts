import { defaultOf, flagOf, settingOf, VARIABLES, type Variable, valuesOf } from '../settings/table.ts';

/** The flags of variables, as `parseArgs` takes them. */
export function flagsFor(...variables: readonly Variable[]): Record<string, { readonly type: 'string' }> {
  const flags = variables.flatMap((variable) => flagOf(variable) ?? []);
  return Object.fromEntries(flags.map((flag) => [flag, { type: 'string' }]));
}

export const SERVE_FLAGS = { ...flagsFor(...VARIABLES), 'no-migrate': { type: 'boolean' } } as const;

export const FLAGGED = VARIABLES.filter((variable) => flagOf(variable) !== undefined);

export const serveFlagsHelp = () => `\
${settingsHelp(FLAGGED)}
  --no-migrate                            PostgreSQL: refuse an older schema instead of migrating it
  -h, --help`;

/** Columns of a terminal, and the one in which the second half of a line of help begins. */
const COLUMNS = 118;
const SECOND = 42;

/** Lines of help: flags with their variables, variables with their values; each with its default and its sentence. */
export function settingsHelp(variables: readonly Variable[]): string {
  const lines = variables.map((variable) => {
    const { flag, about } = settingOf(variable);
    const told = `default ${defaultOf(variable)}. ${about}`;
    if (flag === undefined) return helpLine(variable, `${valuesOf(variable)}; ${told}`);
    return helpLine(`--${flagOf(variable)} ${flag}`, `${variable}, ${told}`);
  });
  return lines.join('\n');
}

/** Code without its marks, links with their addresses. */
export function plain(markdown: string): string {
  return markdown.replace(/\[([^[\]]+)\]\(([^()]+)\)/g, '$1 (docs/$2)').replaceAll('`', '');
}

/** Two columns, the second of which may go on in the lines below. */
function helpLine(first: string, markdown: string): string {
  const lines = [`  ${first}`.padEnd(SECOND - 1)];
  for (const word of plain(markdown).split(' ')) {
    const last = lines.length - 1;
    if (`${lines[last]} ${word}`.length <= COLUMNS) lines[last] += ` ${word}`;
    else lines.push(`${' '.repeat(SECOND)}${word}`);
  }
  return lines.join('\n');
}
