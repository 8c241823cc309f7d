import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/**
 * Reads the flags of a command, and its operands: words without a dash, each wanted once, in this order. Of a
 * flag given twice the later wins. The result is an exit code when that is all: 0 after `--help`, 2 after a
 * message about wrong usage.
 */
export function readFlags<
  const Name extends string,
  const Switch extends string = never,
  const Operand extends string = never,
>(
  command: string,
  argv: readonly string[],
  names: readonly Name[],
  help: string,
  switches: readonly Switch[] = [],
  operands: readonly Operand[] = [],
): Read<Name, Switch, Operand> | number {
  const options: ParseArgsOptionsConfig = { help: { type: 'boolean' } };
  for (const name of names) options[name] = { type: 'string' };
  for (const name of switches) options[name] = { type: 'boolean' };
  try {
    const allowPositionals = operands.length > 0;
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals });
    if (values.help === true) {
      process.stdout.write(help);
      return 0;
    }
    if (positionals.length !== operands.length || positionals.some((word) => word === '')) {
      throw new Error(operandsWanted(operands, positionals));
    }
    const words = operands.map((operand, index) => [operand, positionals[index]]);
    return { ...values, ...Object.fromEntries(words) } as Read<Name, Switch, Operand>;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${reason}\nRun "todo-service ${command} --help" for the flags.\n`);
    return 2;
  }
}

type Read<Name extends string, Switch extends string, Operand extends string> = {
  readonly [N in Name]?: string;
} & { readonly [S in Switch]?: boolean } & { readonly [O in Operand]: string };

function operandsWanted(operands: readonly string[], received: readonly string[]): string {
  const words = received.map((word) => JSON.stringify(word)).join(' ') || 'nothing';
  const hint = received.length > operands.length ? '; a word with spaces needs quotes' : '';
  return `${operands.join(' ')} must be given, once, received ${words}${hint}`;
}
