import { parseArgs } from 'node:util';

/**
 * Reads the flags of a command; of a flag given twice the later wins. The result is an exit code when that is
 * all: 0 after `--help`, 2 after a message about wrong usage.
 */
export function readFlags<const Name extends string>(
  command: string,
  argv: readonly string[],
  names: readonly Name[],
  help: string,
): { readonly [N in Name]?: string } | number {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  try {
    const { values } = parseArgs({ args: [...argv], options: { ...options, help: { type: 'boolean' } } });
    if (values.help === true) {
      process.stdout.write(help);
      return 0;
    }
    return values as { readonly [N in Name]?: string };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${reason}\nRun "todo-service ${command} --help" for the flags.\n`);
    return 2;
  }
}
