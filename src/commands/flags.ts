import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/**
 * Reads the flags of a command; of a flag given twice the later wins. The result is an exit code when that is
 * all: 0 after `--help`, 2 after a message about wrong usage.
 */
export function readFlags<const Name extends string, const Switch extends string = never>(
  command: string,
  argv: readonly string[],
  names: readonly Name[],
  help: string,
  switches: readonly Switch[] = [],
): ({ readonly [N in Name]?: string } & { readonly [S in Switch]?: boolean }) | number {
  const options: ParseArgsOptionsConfig = { help: { type: 'boolean' } };
  for (const name of names) options[name] = { type: 'string' };
  for (const name of switches) options[name] = { type: 'boolean' };
  try {
    const { values } = parseArgs({ args: [...argv], options });
    if (values.help === true) {
      process.stdout.write(help);
      return 0;
    }
    return values as { readonly [N in Name]?: string } & { readonly [S in Switch]?: boolean };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${reason}\nRun "todo-service ${command} --help" for the flags.\n`);
    return 2;
  }
}
