import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, test } from 'node:test';
import { flagOf, settingOf, VARIABLES } from '../../src/settings/table.ts';
import { commandsOf, writeCompletions } from '../../tools/completions.ts';
import { temporaryFolder } from '../support/folder.ts';
import { PROGRAM, preloading, runProgram } from '../support/start.ts';

const folder = await temporaryFolder();
after(() => folder[Symbol.asyncDispose]());
const program = [process.execPath, PROGRAM] as const;
const commands = commandsOf(program);
writeCompletions(commands, folder.path);

/** What there is to complete: files, one with a blank, and a folder. */
const files = join(folder.path, 'files');
mkdirSync(join(files, 'alists'), { recursive: true });
writeFileSync(join(files, 'a copy.jsonl'), '');

/** What is offered behind `todo-service` and these words, the last of which is not complete, in the order of the alphabet. */
const SERVE = [
  '--data-dir',
  '--database',
  '--environment',
  '--help',
  '--host',
  '--no-migrate',
  '--port',
  '--profile',
  '--socket',
];
const FIRST = [
  ...[
    'backup',
    'categories',
    'check',
    'config',
    'export',
    'healthcheck',
    'help',
    'import',
    'migrate',
    'openapi',
  ],
  ...['restore', 'serve', 'token'],
];
const DATABASE = ['--data-dir', '--database', '--help'];
const OFFERED: readonly (readonly [words: readonly string[], offered: readonly string[]])[] = [
  [[''], FIRST],
  [['che'], ['check']],
  [
    ['categories', ''],
    ['add', 'list', 'rename'],
  ],
  [['token', 'v'], ['verify']],
  [['help', 'rest'], ['restore']],
  [['help', 'token', 'c'], ['create']],
  [['serve', '--'], SERVE],
  [['config', '--'], SERVE],
  [['--prof'], ['--profile']],
  [['categories', 'rename', '--'], DATABASE],
  [['healthcheck', '--l'], ['--live']],
  [
    ['serve', '--profile', ''],
    ['error-demo', 'shared-list'],
  ],
  [['--profile', 'err'], ['error-demo']],
  [
    ['serve', '--port', '80', '--environment', ''],
    ['development', 'production'],
  ],
  [
    ['token', 'create', '--name', 'ada', '--output', ''],
    ['json', 'token'],
  ],
  [['token', 'create', '--lifetime', ''], []],
  [['serve', '--port', ''], []],
  [['burn', ''], []],
];

/** Whether a shell is there. */
const lacks = (shell: string) => spawnSync(shell, ['--version']).error !== undefined && `needs ${shell}`;

test('every flag that a command takes is in its help, and so in the completions, and no other', async () => {
  const asking = `import util from 'node:util';
    import { syncBuiltinESMExports } from 'node:module';
    util.parseArgs = ({ options }) => { console.log(Object.keys(options).sort().join()); process.exit(); };
    syncBuiltinESMExports();`;
  assert.ok(commands.length > 10);
  for (const { words, flags } of commands) {
    const { stdout } = await runProgram(words.split(' '), { env: preloading(asking) });
    const names = flags.map(({ name }) => name.slice(2)).sort();
    assert.equal(stdout, `${names.join()}\n`, words);
  }
});

test('a setting that is one of several words is offered with all of them', () => {
  const flags = commands.find(({ words }) => words === 'serve')?.flags ?? [];
  for (const variable of VARIABLES.filter((variable) => flagOf(variable) !== undefined)) {
    const setting = settingOf(variable);
    const offered = flags.find(({ name }) => name === `--${flagOf(variable)}`)?.value;
    if ('oneOf' in setting) assert.deepEqual(offered, setting.oneOf);
    else assert.ok(typeof offered === 'string', variable);
  }
});

describe('bash', { skip: lacks('bash') }, () => {
  const script = join(folder.path, 'bash', 'todo-service');

  /** Asks the function that `complete` names, as bash does. */
  function offeredBy(words: readonly string[]): readonly string[] {
    const code = `source "$1"; shift
      [[ $(complete -p todo-service) == 'complete -F _todo_service todo-service' ]] || exit 1
      COMP_WORDS=(todo-service "$@") COMP_CWORD=$#; set -u; _todo_service
      for found in \${COMPREPLY[@]+"\${COMPREPLY[@]}"}; do printf '%s\\n' "$found"; done`;
    const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', code, 'bash', script, ...words], {
      cwd: files,
      encoding: 'utf8',
    });
    assert.deepEqual([status, stderr], [0, '']);
    return [...new Set(stdout.split('\n').filter(Boolean))].sort();
  }

  for (const [words, offered] of [
    ...OFFERED,
    [
      ['serve', '--profile', '='],
      ['error-demo', 'shared-list'],
    ],
    [['serve', '--profile', '=', 'sh'], ['shared-list']],
    [
      ['import', 'a'],
      ['a copy.jsonl', 'alists'],
    ],
    [['import', '--data-dir', 'a'], ['alists']],
    [['check', ''], DATABASE],
  ] as typeof OFFERED) {
    test(`offers ${offered.join(' ') || 'nothing'} for "${words.join(' ')}"`, () => {
      assert.deepEqual(offeredBy(words), offered);
    });
  }
});

/** What a shell at a terminal runs when these keys were typed: the words between brackets. */
async function typed(shell: string, keys: string): Promise<string> {
  const child = spawn('script', ['-qec', shell, '/dev/null'], {
    cwd: files,
    env: { PATH: process.env.PATH, HOME: files, TERM: 'dumb' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(`${keys}\nexit\n`);
  return (await text(child.stdout)).replaceAll('\r', '');
}

const ECHO = `todo-service() { for word; do printf '[%s]' "$word"; done; echo; }`;
const KEYS = 'todo-service token cre\t--na\tada --out\tj\t\ntodo-service import a\\ \t--data-d\tal\t';
const noTerminal =
  process.platform === 'linux' ? lacks('script') : 'needs the terminal of script(1) of Linux';

for (const [shell, setup] of [
  ['bash', `source ../bash/todo-service`],
  ['zsh', `fpath=(../zsh $fpath); autoload -Uz compinit; compinit -u -D`],
] as const) {
  test(`${shell} at a terminal completes commands, flags, values, files and folders`, {
    skip: lacks(shell) || noTerminal,
  }, async () => {
    const said = await typed(
      shell === 'bash' ? 'bash --norc --noprofile' : 'zsh -f',
      `${setup}; ${ECHO}\n${KEYS}`,
    );
    assert.ok(said.includes('\n[token][create][--name][ada][--output][json]\n'), said);
    // zsh takes the slash off again.
    assert.match(said, /\n\[import\]\[a copy\.jsonl\]\[--data-dir\]\[alists\/?\]\n/);
  });
}

describe('fish', { skip: lacks('fish') }, () => {
  const script = join(folder.path, 'fish', 'todo-service.fish');
  for (const [words, offered] of [
    ...OFFERED.filter(([words]) => words[0] !== 'burn'),
    [['serve', '--profile=sh'], ['--profile=shared-list']],
    [
      ['import', 'a'],
      ['a copy.jsonl', 'alists/'],
    ],
    [['import', '--data-dir', 'a'], ['alists/']],
  ] as typeof OFFERED) {
    test(`offers ${offered.join(' ') || 'nothing'} for "${words.join(' ')}"`, () => {
      const code = `source '${script}'; complete -C 'todo-service ${words.join(' ')}'`;
      const { status, stdout, stderr } = spawnSync('fish', ['--no-config', '-c', code], {
        cwd: files,
        encoding: 'utf8',
      });
      assert.deepEqual([status, stderr], [0, '']);
      const received = stdout.split('\n').map((line) => line.split('\t')[0] ?? '');
      assert.deepEqual([...new Set(received)].filter(Boolean).sort(), offered);
    });
  }
});
