import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { messageOf, NotUsable } from '../lib/errors.ts';
import { didYouMean, nearestTo } from '../lib/nearest.ts';
import { EXIT_CODES, OperatorError, type Reason } from '../lib/operator-error.ts';
import { escapeHidden, quote, quoteReceived } from '../lib/quote.ts';
import { ConfigFaults, unknownVariables } from '../settings/read.ts';
import { isId, MAX_ID } from '../shared-list/members.ts';
import { OutcomeUnknown, StoreUnavailable } from '../shared-list/store.ts';
import { print } from './print.ts';

/** @param name The words of the command. @param argv The words behind them. @returns the exit code. */
export type Command = (name: string, argv: readonly string[], env: NodeJS.ProcessEnv) => Promise<number>;

/** The action of a command, and its words. */
export interface CommandLine<Flags extends ParseArgsOptionsConfig, Operand extends string> {
  /** For people, after "Cannot". */
  readonly action: string;
  readonly help: string;
  /** The flags, as `parseArgs` takes them. */
  readonly flags: Flags;
  /** Names of the words without a dash: required, `ID NAME`, or in brackets, `[FILE]`, optional. */
  readonly operand?: Operand;
}

export type Given<Flags extends ParseArgsOptionsConfig, Operand extends string = never> = ReturnType<
  typeof parseArgs<{ options: Flags }>
>['values'] & { readonly [O in Words<Operand>]: O extends `[${string}]` ? string | undefined : string };

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

/** The words behind a command do not fit it. The message is a sentence for people. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}

/**
 * A command that does `work` with the given words. A fault that an operator can mend is printed, and is an exit code: 2
 * wrong usage, 65 the SQLite file is not of this service, 69 the database cannot be used, 75 a process serves it, 78
 * faults in the configuration.
 */
export function defineCommand<
  const Flags extends ParseArgsOptionsConfig,
  const Operand extends string = never,
>(
  line: CommandLine<Flags, Operand>,
  work: (given: Given<Flags, Operand>, env: NodeJS.ProcessEnv) => Promise<number>,
): Command {
  return async (name, argv, env) => {
    try {
      const given = readFlags(line, argv);
      if (given !== undefined) return await work(given, env);
      print(line.help);
      return 0;
    } catch (error) {
      if (!(error instanceof WrongUsage)) return printFault(line.action, error);
      process.stderr.write(`${error.message}\nRun "todo-service ${name} --help" for the flags.\n`);
      return EXIT_CODES['wrong-usage'];
    }
  };
}

/** Reads the words behind those of a command. Undefined for `--help` and `-h`. @throws {WrongUsage} */
export function readFlags<const Flags extends ParseArgsOptionsConfig, const Operand extends string = never>(
  { flags, operand }: Pick<CommandLine<Flags, Operand>, 'flags' | 'operand'>,
  argv: readonly string[],
): Given<Flags, Operand> | undefined {
  const options: ParseArgsOptionsConfig = { ...flags, help: { type: 'boolean', short: 'h' } };
  const { values, positionals } = parse(argv, options);
  const words: readonly string[] = positionals;
  if (values.help === true) return undefined;
  if (operand === undefined) {
    const [word] = words;
    if (word === undefined) return values as Given<Flags, Operand>;
    throw new WrongUsage(`The command has flags alone, received ${quoteReceived(word)}`);
  }
  const names = operand.split(' ');
  const isMissing = !operand.startsWith('[') && words.length < names.length;
  if (isMissing || words.length > names.length || words.includes(''))
    throw new WrongUsage(operandWanted(operand, words));
  const operands = Object.fromEntries(names.map((name, place) => [name, words[place]]));
  return { ...values, ...operands } as Given<Flags, Operand>;
}

function parse(argv: readonly string[], options: ParseArgsOptionsConfig) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true });
  } catch (error) {
    const message = messageOf(error);
    const unknown = /^Unknown option '(-.+?)'(?:\. |$)/s.exec(message)?.[1];
    if (unknown === undefined) throw new WrongUsage(message);
    const known = Object.keys(options).map((name) => `--${name}`);
    throw new WrongUsage(
      `There is no flag ${quoteReceived(unknown)}${didYouMean(nearestTo(unknown, known))}`,
    );
  }
}

/** The message for a wrong operand. The words are not repeated: one may be a token. */
function operandWanted(operand: string, words: readonly string[]): string {
  const many = words.length === 1 ? '1 word' : `${words.length} words; one with spaces needs quotes`;
  const received = words.length === 0 ? 'nothing' : words.includes('') ? '""' : many;
  const wanted = operand.startsWith('[') ? 'may be given once' : 'must be given, once';
  return `${operand} ${wanted}, received ${received}`;
}

/** The number in a word or a flag of this name, in the range of ids. @throws {WrongUsage} when it has none. */
export function readNumber(name: string, text: string): number {
  const id = Number(text);
  if (/^\d+$/.test(text) && isId(id)) return id;
  throw new WrongUsage(`${name} must be 1 to ${MAX_ID}, received ${quoteReceived(text.slice(0, 100))}`);
}

/** Prints a fault that an operator can mend. The result is the exit code. Any other error is thrown again. */
export function printFault(action: string, error: unknown): number {
  if (error instanceof ConfigFaults) {
    const lines = error.faults.map((fault) => `  ${fault}\n`).join('');
    process.stderr.write(escapeHidden(`Cannot ${action}, the configuration has faults:\n${lines}`));
    return EXIT_CODES.configuration;
  }
  if (error instanceof OperatorError) return printCannot(action, error.message, error.reason);
  if (error instanceof NotUsable) return printCannot(action, error.message, 'configuration');
  if (error instanceof StoreUnavailable || error instanceof OutcomeUnknown)
    return printCannot(action, error.message, 'unavailable');
  throw error;
}

/** Prints the reason why an action cannot be done. The result is its exit code. */
export function printCannot(action: string, message: string, reason: Reason): number {
  process.stderr.write(escapeHidden(`Cannot ${action}: ${message}\n`));
  return EXIT_CODES[reason];
}

/** Prints the variables that nothing reads, a line each: a misspelled one may be the cause of a fault. */
export function printUnknownVariables(env: NodeJS.ProcessEnv): void {
  for (const { name, nearest } of unknownVariables(env)) {
    process.stderr.write(`Nothing reads the variable ${quote(name)}${didYouMean(nearest)}.\n`);
  }
}
