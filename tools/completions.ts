/** Completions for bash, zsh and fish, made of what `--help` of a program says: a flag that it lacks is in none of them. */
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { outputOf } from './command.ts';
import { write } from './files.ts';

/** What may stand at a place: one of several words, a file, a folder, or what nobody can guess. */
type Place = readonly string[] | 'file' | 'folder' | 'text';

interface Flag {
  /** With its dashes. */
  readonly name: string;
  readonly about: string;
  /** Undefined for a switch. */
  readonly value: Place | undefined;
}

interface Command {
  /** `serve`, `token create`. */
  readonly words: string;
  readonly about: string;
  readonly flags: readonly Flag[];
  /** Undefined where it takes flags alone. */
  readonly operand: Place | undefined;
}

/** The name of the file of each shell, as the shell looks for it. */
export const COMPLETIONS = {
  bash: 'todo-service',
  zsh: '_todo-service',
  fish: 'todo-service.fish',
} as const;

/** Writes a file for each shell into a folder of its name. */
export function writeCompletions(commands: readonly Command[], folder: string): void {
  for (const [shell, make] of Object.entries({ bash, zsh, fish })) {
    const file = join(folder, shell, COMPLETIONS[shell as keyof typeof COMPLETIONS]);
    write(file, make(commands));
    chmodSync(file, 0o644);
  }
}

/** Every command of a program with its flags. The words run the program. */
export function commandsOf([file, ...first]: readonly [string, ...string[]]): readonly Command[] {
  const helpOf = (words: string) => {
    const help = outputOf(file, ...first, ...words.split(' ').filter(Boolean), '--help');
    if (help === undefined) throw new Error(`Cannot read the help of "${words}"`);
    return help;
  };
  const listed = helpOf('').matchAll(/^ {2}(\w+(?: \w+)?) {2,}(.+)$/gm);
  return Array.from(listed, ([, words = '', about = '']) => {
    const help = helpOf(words);
    const [, operand = ''] = new RegExp(`^Usage: todo-service ${words} (\\S+)`).exec(help) ?? [];
    const takesOne = operand !== '[flags]' && !operand.startsWith('-');
    return { words, about, flags: flagsIn(help), operand: takesOne ? placeOf(operand) : undefined };
  });
}

/** The flags in a help text. Their sentences may go on in the lines below. */
function flagsIn(help: string): readonly Flag[] {
  const found = help.matchAll(/^ {2}(?:-h, )?(--[a-z-]+)(?: (\S+))?(?: +(\S.*(?:\n {8,}\S.*)*))?$/gm);
  return Array.from(found, ([, name = '', value, about = 'what it is for']) => ({
    name,
    about: about.replace(/\s+/g, ' '),
    value: value === undefined ? undefined : placeOf(value),
  }));
}

/** By what stands for a value in help: `on|off`, `FILE`, `DIR`, `PORT`. */
function placeOf(text: string): Place {
  if (/^[a-z-]+(?:\|[a-z-]+)+$/.test(text)) return text.split('|');
  if (/^\[?(?:FILE|BACKUP)\b/.test(text)) return 'file';
  return text === 'DIR' ? 'folder' : 'text';
}

/** The first words of commands of two. */
function groupsOf(commands: readonly Command[]): readonly string[] {
  const firsts = commands
    .filter(({ words }) => words.includes(' '))
    .map(({ words }) => words.split(' ')[0] ?? '');
  return [...new Set(firsts)];
}

/** A word that may come next, and what it is for. */
type Next = readonly [word: string, about: string];

/** What may come where: nothing yet, after the first word of a group, after a command. */
function placesOf(commands: readonly Command[]): ReadonlyMap<string, readonly Next[]> {
  const groups = groupsOf(commands);
  const single = commands.filter(({ words }) => !words.includes(' '));
  const serve = commands.find(({ words }) => words === 'serve')?.flags ?? [];
  const flags = (all: readonly Flag[]) => all.map(({ name, about }): Next => [name, about]);
  const first: readonly Next[] = [
    ...single.map(({ words, about }): Next => [words, about]),
    ...groups.map((group): Next => [group, groupAbout(group, commands)]),
    ['help', 'what a command is for'],
    ['--version', 'the version'],
    ...flags(serve),
  ];
  return new Map([
    ['', first],
    ...groups.map((group) => {
      const members = commands.filter(({ words }) => words.startsWith(`${group} `));
      const next = members.map(({ words, about }): Next => [words.slice(group.length + 1), about]);
      return [group, [...next, ['--help', 'what it is for'] as const]] as const;
    }),
    ...commands.map((command) => [command.words, flags(command.flags)] as const),
  ]);
}

function groupAbout(group: string, commands: readonly Command[]): string {
  return commands
    .filter(({ words }) => words.startsWith(`${group} `))
    .map(({ words }) => words.slice(group.length + 1))
    .join(', ');
}

/** Lines of a `case` of bash and zsh. */
function linesOf(rows: readonly (readonly [at: string, then: string])[], indent: number): string {
  return rows.map(([at, then]) => `${' '.repeat(indent)}'${at}') ${then} ;;`).join('\n');
}

/** What a value may be, by command and flag. `list` is how the shell writes several words. */
function valuesOf(commands: readonly Command[], list: (words: string) => string) {
  return commands.flatMap(({ words, flags }) =>
    flags.flatMap(({ name, value }) =>
      value === undefined ? [] : [[`${words} ${name}`, kindOf(value, list)] as const],
    ),
  );
}

/** The same of operands, by command. */
function operandsOf(commands: readonly Command[], list: (words: string) => string) {
  return commands.flatMap(({ words, operand }) =>
    operand === undefined ? [] : [[words, kindOf(operand, list)] as const],
  );
}

function kindOf(place: Place, list: (words: string) => string): string {
  return typeof place === 'string' ? `kind=${place}` : `next=${list(place.join(' '))}`;
}

const HEAD = '# Made by tools/completions.ts of what todo-service says of itself with --help.';

function bash(commands: readonly Command[]): string {
  const list = (words: string) => `'${words}'`;
  const places = [...placesOf(commands)].map(
    ([at, next]) => [at, `next=${list(next.map(([word]) => word).join(' '))}`] as const,
  );
  return `${HEAD}
_todo_service() {
  local current=\${COMP_WORDS[COMP_CWORD]} before='' at='' next='' kind=words index=1 found
  COMPREPLY=()
  # "=" is a word of its own.
  if [[ $current == = ]]; then current=''; fi
  if [[ \${COMP_WORDS[index]} == help && COMP_CWORD -gt index ]]; then index=2; fi
  if ((COMP_CWORD > index)); then
    at=\${COMP_WORDS[index]} before=\${COMP_WORDS[COMP_CWORD - 1]}
    if [[ \${COMP_WORDS[COMP_CWORD]} == = ]]; then before=\${COMP_WORDS[COMP_CWORD - 1]}
    elif [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD - 2]}; fi
    case $at in
      -*) at=serve ;;
      ${groupsOf(commands).join(' | ')}) if ((COMP_CWORD > index + 1)); then at="$at \${COMP_WORDS[index + 1]}"; fi ;;
    esac
  fi
  case $at in
${linesOf(places, 4)}
    *) return ;;
  esac
  if [[ $current != -* ]]; then
    if [[ $next != -* ]]; then next=\${next%% --*}; fi
    case "$at $before" in
${linesOf(valuesOf(commands, list), 6)}
      *) case $at in
${linesOf(operandsOf(commands, list), 8)}
      esac ;;
    esac
  fi
  case $kind in
    words) while IFS= read -r found; do COMPREPLY+=("$found"); done < <(compgen -W "$next" -- "$current") ;;
    file) while IFS= read -r found; do COMPREPLY+=("$found"); done < <(compgen -f -- "$current") ;;
    folder) while IFS= read -r found; do COMPREPLY+=("$found"); done < <(compgen -d -- "$current") ;;
  esac
  if [[ $kind == file || $kind == folder ]]; then compopt -o filenames 2>/dev/null; fi
}
complete -F _todo_service todo-service
`;
}

/** Between single quotes, as bash and zsh read them. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\\\''")}'`;
}

function zsh(commands: readonly Command[]): string {
  const list = (words: string) => `(${words})`;
  const places = [...placesOf(commands)].map(([at, next]) => {
    const words = next.map(([word, about]) => quoted(`${word}:${about}`));
    return [at, `next=${list(words.join(' '))}`] as const;
  });
  return `#compdef todo-service
${HEAD}
_todo_service() {
  local at='' before='' kind=words index=2
  local -a next
  if [[ $words[index] == help && CURRENT -gt index ]]; then index=3; fi
  if ((CURRENT > index)); then
    at=$words[index] before=$words[CURRENT-1]
    case $at in
      -*) at=serve ;;
      (${groupsOf(commands).join('|')}) if ((CURRENT > index + 1)); then at="$at $words[index+1]"; fi ;;
    esac
  fi
  case $at in
${linesOf(places, 4)}
    *) return 1 ;;
  esac
  if [[ $PREFIX == --*=* ]]; then before=\${PREFIX%%=*}; compset -P '*='; at=\${at:-serve}; fi
  if [[ $PREFIX != -* ]]; then
    if [[ $next[1] != -* ]]; then next=(\${next:#-*}); fi
    case "$at $before" in
${linesOf(valuesOf(commands, list), 6)}
      *) case $at in
${linesOf(operandsOf(commands, list), 8)}
      esac ;;
    esac
  fi
  case $kind in
    words) _describe todo-service next ;;
    file) _files ;;
    folder) _files -/ ;;
    *) return 1 ;;
  esac
}
_todo_service "$@"
`;
}

function fish(commands: readonly Command[]): string {
  const own = 'complete -c todo-service';
  /** As fish reads single quotes. */
  const text = (words: string) => `'${words.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const at = (place: string) => `-n ${text(`__todo_service_at "${place}"`)}`;
  const words = [...placesOf(commands)].flatMap(([place, next]) =>
    next
      .filter(([word]) => !word.startsWith('-') || word === '--version')
      .map(([word, about]) => {
        const what = word.startsWith('-') ? `-l ${word.slice(2)}` : `-a ${word}`;
        return `${own} ${at(place)} ${what} -d ${text(about)}`;
      }),
  );
  const flags = commands.flatMap(({ words: command, flags: all }) =>
    all.flatMap(({ name, about, value }) => {
      const places = command === 'serve' ? ['', command] : [command];
      const takes =
        value === undefined
          ? ''
          : value === 'file'
            ? ' -r -F'
            : value === 'folder'
              ? " -x -a '(__fish_complete_directories)'"
              : value === 'text'
                ? ' -x'
                : ` -x -a '${value.join(' ')}'`;
      const short = name === '--help' ? ' -s h' : '';
      return places.map(
        (place) => `${own} ${at(place)} -l ${name.slice(2)}${short}${takes} -d ${text(about)}`,
      );
    }),
  );
  const operands = commands
    .filter(({ operand }) => operand === 'file')
    .map(({ words: command }) => `${own} ${at(command)} -F`);
  return `${HEAD}
function __todo_service_at
  set -l words (commandline -opc)[2..-1]
  if test "$words[1]" = help
    set -e words[1]
  end
  set -l place "$words[1]"
  switch "$place"
    case '-*'
      set place serve
    case ${groupsOf(commands).join(' ')}
      set place (string join ' ' $words[1..2])
  end
  test "$place" = "$argv[1]"
end
${own} -f
${[...words, ...flags, ...operands].join('\n')}
`;
}
