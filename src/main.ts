import type { Command } from './commands/command.ts';
import { print } from './commands/print.ts';
import { readCommit, readVersion } from './lib/assets.ts';
import { didYouMean, nearestTo } from './lib/nearest.ts';
import { EXIT_CODES } from './lib/operator-error.ts';
import { quoteReceived } from './lib/quote.ts';

/** A command: its name, its purpose in the list of all, and its code, which is imported only when it is called. */
type Entry = readonly [name: string, about: string, load: () => Promise<Command>];

// biome-ignore format: a command is a row
const COMMANDS: readonly Entry[] = [
  ['serve', 'serves the todo list or the error demo (the default)', async () => (await import('./commands/serve.ts')).serve],
  ['config', 'prints the settings that the service would have, or all their faults', async () => (await import('./commands/config.ts')).config],
  ['healthcheck', 'asks the admin listener whether requests can be answered', async () => (await import('./commands/healthcheck.ts')).healthcheck],
  ['migrate', 'brings the schema of the database up to date', async () => (await import('./commands/migrate.ts')).migrate],
  ['check', 'looks for faults of the database', async () => (await import('./commands/check.ts')).check],
  ['backup', 'copies the database while it is served', async () => (await import('./commands/backup.ts')).backup],
  ['restore', 'replaces the database by a backup or an export', async () => (await import('./commands/restore.ts')).restore],
  ['export', 'writes categories, todos and keys as JSON Lines, while they are served', async () => (await import('./commands/export.ts')).exportAll],
  ['import', 'imports an export into an empty database', async () => (await import('./commands/import.ts')).importAll],
  ['categories list', 'prints the categories with their ids', async () => (await import('./commands/categories.ts')).categoriesList],
  ['categories add', 'adds a category and prints its id', async () => (await import('./commands/categories.ts')).categoriesAdd],
  ['categories rename', 'gives a category another name', async () => (await import('./commands/categories.ts')).categoriesRename],
  ['openapi', 'prints the OpenAPI document, which only development serves', async () => (await import('./commands/openapi.ts')).openapi],
  ['token create', 'prints a development token', async () => (await import('./commands/token-create.ts')).tokenCreate],
  ['token verify', 'explains, check by check, whether the service accepts a token', async () => (await import('./commands/token-verify.ts')).tokenVerify],
];

const HELP = `Usage: todo-service [command] [flags]

${listOf(COMMANDS)}
"todo-service <command> --help" lists the flags of a command, with examples; "todo-service --version" prints
the version, and the commit of which it was built.

Every command ends with 74 when it cannot print to standard output; its work is done then.
`;

/** Process entry: runs the command and leaves its exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  // A failed write to standard error changes no exit code.
  process.stderr.on('error', () => {});
  process.exitCode = await run(argv, process.env);
  // Without this, a process takes its signal listeners off milliseconds before its end: a signal in between would give a
  // finished command the exit code of an ended one.
  process.once('beforeExit', () => process.exit());
}

/** Finds the command that the words name, and runs it: its exit code. */
export async function run(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const [first = 'serve', second] = argv;
  if (first === 'help') return run([...argv.slice(1), '--help'], env);
  if (asksForHelp(first)) {
    print(HELP);
    return 0;
  }
  if (first === '--version') {
    const commit = readCommit();
    print(`${readVersion()}${commit === undefined ? '' : ` (commit ${commit})`}\n`);
    return 0;
  }
  const words = argv.length === 0 || first.startsWith('-') ? ['serve', ...argv] : argv;
  for (const length of [2, 1]) {
    const wanted = words.slice(0, length).join(' ');
    const [, , load] = COMMANDS.find(([name]) => name === wanted) ?? [];
    if (load !== undefined) return (await load())(wanted, words.slice(length), env);
  }
  const names = COMMANDS.map(([name]) => name);
  const group = names.filter((name) => name.startsWith(`${first} `));
  if (group.length === 0) {
    const firsts = names.map((name) => name.replace(/ .*/, ''));
    return notACommand(first, `is not a command${didYouMean(nearestTo(first, firsts))}`, HELP);
  }
  const help = groupHelp(first);
  if (asksForHelp(second)) {
    print(help);
    return 0;
  }
  if (second === undefined) {
    const whole = group.map((command) => `"${command}"`).join(' or ');
    return notACommand(first, `is half of a command, which is ${whole}`, help);
  }
  const seconds = group.map((command) => command.slice(`${first} `.length));
  return notACommand(`${first} ${second}`, `is not a command${didYouMean(nearestTo(second, seconds))}`, help);
}

function asksForHelp(word: string | undefined): boolean {
  return word === '--help' || word === '-h';
}

function notACommand(words: string, reason: string, help: string): number {
  process.stderr.write(`Cannot run ${quoteReceived(words)}: it ${reason}.\n\n${help}`);
  return EXIT_CODES['wrong-usage'];
}

function groupHelp(word: string): string {
  return `Usage: todo-service ${word} <command> [flags]

${listOf(COMMANDS.filter(([name]) => name.startsWith(`${word} `)))}
"todo-service ${word} <command> --help" lists the flags of a command, with examples.
`;
}

function listOf(commands: readonly Entry[]): string {
  return commands.map(([name, about]) => `  ${name.padEnd(17)}  ${about}\n`).join('');
}
