import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

type Flags<Name extends string, Switch extends string, Word extends string> = Readonly<Record<Name, number>> &
  Readonly<Record<Switch, boolean>> &
  Readonly<Partial<Record<Word, string>>>;

/**
 * Reads the flags of a script: numbers from 0, each with its default, switches, and words, which may be left out. Ends
 * the process after `--help`, and with exit code 2 where a number is none: a script that does nothing at all would
 * pass.
 */
export function scriptFlags<
  const Name extends string,
  const Switch extends string = never,
  const Word extends string = never,
>(
  help: string,
  numbers: Readonly<Record<Name, number>>,
  switches: readonly Switch[] = [],
  words: readonly Word[] = [],
): Flags<Name, Switch, Word> {
  const options: ParseArgsOptionsConfig = { help: { type: 'boolean' } };
  for (const [name, otherwise] of Object.entries(numbers)) {
    options[name] = { type: 'string', default: String(otherwise) };
  }
  for (const name of switches) options[name] = { type: 'boolean', default: false };
  for (const name of words) options[name] = { type: 'string' };
  const { help: wanted, ...values } = parseArgs({ options }).values;
  if (wanted === true) {
    process.stdout.write(help);
    process.exit();
  }
  const flags = Object.entries(values).map(([name, value]) => {
    return [name, name in numbers ? Number(value || Number.NaN) : value] as const;
  });
  const wrong = flags.find(([, value]) => typeof value === 'number' && !(value >= 0));
  if (wrong !== undefined) {
    process.stderr.write(`--${wrong[0]} must be a number from 0\n\n${help}`);
    process.exit(2);
  }
  return Object.fromEntries(flags) as Flags<Name, Switch, Word>;
}
