import { plain } from '../../src/commands/flags.ts';
import { defaultOf, settingOf, VARIABLES, valuesOf } from '../../src/settings/table.ts';
import { outputOf } from '../command.ts';

const FILES = `/etc/todo-service/environment
    The variables of the service that systemd starts.
/var/lib/todo-service
    Its database, where that is a file.
/var/backups/todo-service
    What todo-service-backup.timer copies of it, once that is enabled.
/var/lib/todo-service-metrics
    When the last of these copies was made, for the node exporter.
/usr/lib/todo-service/restart
    Restarts the service, or its instances one after the other.
/usr/share/doc/todo-service
    The documents: the folder docs/ that this page names is there.
`;

/** The manual page of a program, todo-service(1), made from its help texts and the table of settings. `date` is in seconds since 1970. */
export function manualOf(program: string, version: string, date: number): string {
  const help = helpOf(program);
  const commands = Array.from(help.matchAll(/^ {2}(\w+(?: \w+)?) {2,}/gm), ([, words = '']) => words);
  const day = new Date(date * 1_000).toISOString().slice(0, 10);
  return [
    `.TH TODO-SERVICE 1 ${day} "todo-service ${version}" "User Commands"`,
    '.SH NAME',
    'todo-service \\- shared todo list behind your own identity provider',
    '.SH SYNOPSIS',
    '.B todo-service',
    '[command] [flags]',
    '.SH COMMANDS',
    asItIs(help),
    ...commands.flatMap((command) => [
      `.SS todo-service ${command}`,
      asItIs(helpOf(program, ...command.split(' '))),
    ]),
    '.SH ENVIRONMENT',
    '.ad l',
    ...VARIABLES.map((variable) => {
      const text = `${valuesOf(variable)}; default ${defaultOf(variable)}. ${settingOf(variable).about}.`;
      return `.TP\n.B ${variable}\n${escaped(plain(text))}`;
    }),
    '.SH FILES',
    asItIs(FILES),
    '',
  ].join('\n');
}

function helpOf(program: string, ...words: readonly string[]): string {
  const help = outputOf(program, ...words, '--help');
  if (help === undefined) throw new Error(`Cannot read the help of "${words.join(' ')}"`);
  return help;
}

/** Lines are neither filled nor adjusted. */
function asItIs(text: string): string {
  return `.nf\n${escaped(text).trimEnd()}\n.fi`;
}

/** No character is a request. */
function escaped(text: string): string {
  const plainly = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll("'", '\\(aq');
  return plainly.replace(/^\./gm, '\\&.');
}
