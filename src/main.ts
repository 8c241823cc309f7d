type Command = (argv: readonly string[], env: NodeJS.ProcessEnv) => Promise<number>;

/** Each command is imported only when it is called. */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['serve', async () => (await import('./commands/serve.ts')).serve],
  ['token create', async () => (await import('./commands/token-create.ts')).tokenCreate],
  ['token verify', async () => (await import('./commands/token-verify.ts')).tokenVerify],
]);

const HELP = `Usage: todo-service [command] [flags]

  serve          serves the todo list or the error demo (the default)
  token create   prints a development token
  token verify   says check by check what the service makes of a token

"todo-service <command> --help" lists the flags of a command, with examples.
`;

/** Process entry: finds the command that the words name and leaves its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  process.exitCode = await run(argv);
}

async function run(argv: readonly string[]): Promise<number> {
  const [first] = argv;
  if (first === '--help') {
    process.stdout.write(HELP);
    return 0;
  }
  const words = first === undefined || first.startsWith('-') ? ['serve', ...argv] : argv;
  for (const length of [2, 1]) {
    const command = COMMANDS.get(words.slice(0, length).join(' '));
    if (command !== undefined) return (await command())(words.slice(length), process.env);
  }
  process.stderr.write(`Cannot run ${JSON.stringify(first)}: it is not a command.\n\n${HELP}`);
  return 2;
}
