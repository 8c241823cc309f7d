import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { meant, nearestTo } from '../nearest.ts';
import { defaultOf, flagOf, settingOf, VARIABLES, type Variable, valuesOf } from '../settings.ts';
import { print } from './print.ts';

/** What a command takes after its own words. */
export interface CommandLine<Flags extends ParseArgsOptionsConfig, Operand extends string = never> {
  /** Its words, like `token create`. */
  readonly command: string;
  /** As `parseArgs` takes them. */
  readonly flags: Flags;
  /** Names of the words without a dash that must be given, `ID NAME`; of one in brackets, `[FILE]`, that may be. */
  readonly operand?: Operand;
  readonly help: string;
}

/** What was given, by the names of flags and operand. */
export type Given<Flags extends ParseArgsOptionsConfig, Operand extends string = never> = ReturnType<
  typeof parseArgs<{ options: Flags }>
>['values'] & { readonly [O in Words<Operand>]: O extends `[${string}]` ? string | undefined : string };

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

/**
 * Reads what follows the words of a command. The result is an exit code when that is all: 0 after `--help` or
 * `-h`, 2 after a message about wrong usage.
 */
export function readFlags<const Flags extends ParseArgsOptionsConfig, const Operand extends string = never>(
  line: CommandLine<Flags, Operand>,
  argv: readonly string[],
): Given<Flags, Operand> | number {
  const options: ParseArgsOptionsConfig = { ...line.flags, help: { type: 'boolean', short: 'h' } };
  try {
    const allowPositionals = line.operand !== undefined;
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals });
    if (values.help === true) {
      print(line.help);
      return 0;
    }
    if (line.operand === undefined) return values as Given<Flags, Operand>;
    const words: readonly string[] = positionals;
    const names = line.operand.split(' ');
    const isMissing = !line.operand.startsWith('[') && words.length < names.length;
    if (isMissing || words.length > names.length || words.includes(''))
      return wrongUsage(line.command, operandWanted(line.operand, words));
    const operands = Object.fromEntries(names.map((name, place) => [name, words[place]]));
    return { ...values, ...operands } as Given<Flags, Operand>;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const unknown = /^Unknown option '(--[^']+)'/.exec(message)?.[1];
    if (unknown === undefined) return wrongUsage(line.command, message);
    const known = Object.keys(options).map((name) => `--${name}`);
    return wrongUsage(line.command, `There is no flag "${unknown}"${meant(nearestTo(unknown, known))}`);
  }
}

/** Says what is wrong with the words of a command, and where its help is. The result is the exit code. */
export function wrongUsage(command: string, sentence: string): 2 {
  process.stderr.write(`${sentence}\nRun "todo-service ${command} --help" for the flags.\n`);
  return 2;
}

/** The words are not repeated: one may be a token. */
function operandWanted(operand: string, words: readonly string[]): string {
  const many = words.length === 1 ? '1 word' : `${words.length} words; one with spaces needs quotes`;
  const received = words.length === 0 ? 'nothing' : words.includes('') ? '""' : many;
  const wanted = operand.startsWith('[') ? 'may be given once' : 'must be given, once';
  return `${operand} ${wanted}, received ${received}`;
}

/** The flags that stand for variables, as `parseArgs` takes them. */
export function flagsFor(...variables: readonly Variable[]): Record<string, { readonly type: 'string' }> {
  const flags = variables.flatMap((variable) => flagOf(variable)?.slice('--'.length) ?? []);
  return Object.fromEntries(flags.map((flag) => [flag, { type: 'string' }]));
}

/** The flags of `serve`. */
export const SERVE_FLAGS = { ...flagsFor(...VARIABLES), 'no-migrate': { type: 'boolean' } } as const;

/** Columns of a terminal, and the one in which the second half of a line of help begins. */
const COLUMNS = 118;
const SECOND = 42;

/** Lines of help: flags with their variables, variables with their values; each with its default and its sentence. */
export function settingsHelp(variables: readonly Variable[]): string {
  const lines = variables.map((variable) => {
    const { flag, about } = settingOf(variable);
    const told = `default ${defaultOf(variable)}. ${about}`;
    if (flag === undefined) return helpLine(variable, `${valuesOf(variable)}; ${told}`);
    return helpLine(`${flagOf(variable)} ${flag}`, `${variable}, ${told}`);
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
