import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { newPath } from '../storage/new-files.ts';
import { quoted } from '../support/quoted.ts';
import { runCommand } from '../support/run-command.ts';
import { endOf, preloading, start } from '../support/start.ts';

const CATEGORIES = ['categories list', 'categories add', 'categories rename'];
const COMMANDS = ['migrate', 'check', 'backup', 'restore', 'export', 'import', ...CATEGORIES];
const ALL = ['serve', 'config', 'healthcheck', 'openapi', ...COMMANDS, 'token create', 'token verify'];

for (const command of ALL) {
  test(`${command} -h has usage, exit codes and examples, and contacts no database`, async () => {
    const env = { TODO_DATABASE: 'postgres://127.0.0.1:1/todos' };
    const { code, stdout, stderr } = await runCommand([...command.split(' '), '-h'], { env });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, new RegExp(`^Usage: todo-service ${command} `));
    assert.match(stdout, /\nExit codes: 0 [\s\S]*\nExamples:\n {2}\S/);
  });
}

for (const words of [[], ...ALL.map((command) => command.split(' ')), ['categories'], ['token']]) {
  test(`the help of ${words.join(' ') || 'all commands'} is at most 118 columns wide`, async () => {
    const { stdout } = await runCommand([...words, '--help']);
    assert.deepEqual(
      stdout.split('\n').filter((line) => line.length > 118),
      [],
    );
  });
}

test('what standard output does not take is one line and 74, and the work is done', async () => {
  const database = `sqlite:${newPath()}`;
  for (const words of [['--help'], ['openapi'], ['migrate', '--database', database]]) {
    // It begins when its input has ended.
    const child = start(words, preloading("import { readFileSync } from 'node:fs'; readFileSync(0);"));
    child.stdout.destroy();
    child.stdin.end();
    assert.deepEqual(await endOf(child), { end: 74, said: 'Cannot print: write EPIPE\n' });
  }
  const { code } = await runCommand(['check', '--database', database]);
  assert.equal(code, 0);
});

test('--help, -h and help before the command are the same', async () => {
  const help = await runCommand(['categories', 'add', '--help']);
  assert.match(help.stdout, /^Usage: todo-service categories add NAME /);
  assert.deepEqual(await runCommand(['categories', 'add', '-h']), help);
  assert.deepEqual(await runCommand(['help', 'categories', 'add']), help);
});

test('flags without a command are those of serve', async () => {
  assert.deepEqual(await runCommand(['--profile', 'error-demo', '-h']), await runCommand(['serve', '-h']));
});

for (const [group, members] of [
  ['categories', ['list', 'add', 'rename']],
  ['token', ['create', 'verify']],
] as const) {
  test(`${group} --help and -h list the commands that begin so, and no other`, async () => {
    const help = await runCommand([group, '--help']);
    assert.deepEqual([help.code, help.stderr], [0, '']);
    const listed = [...help.stdout.matchAll(/^ {2}(\S+ \S+) {2,}\S/gm)].map(([, name]) => name);
    assert.deepEqual(
      listed,
      members.map((member) => `${group} ${member}`),
    );
    assert.deepEqual(await runCommand([group, '-h']), help);
  });

  test(`${group} without a second word is half of a command, and names the whole ones: 2`, async () => {
    const { stdout: help } = await runCommand([group, '--help']);
    const { code, stderr } = await runCommand([group]);
    const whole = members.map((member) => `"${group} ${member}"`).join(' or ');
    const reason = `it is half of a command, which is ${whole}`;
    assert.deepEqual({ code, stderr }, { code: 2, stderr: `Cannot run "${group}": ${reason}.\n\n${help}` });
  });

  test(`${group} with a wrong second word is wrong usage and lists the right ones: 2`, async () => {
    const { stdout: help } = await runCommand([group, '--help']);
    const { code, stderr } = await runCommand([group, 'burn']);
    const message = `Cannot run "${group} burn": it is not a command.\n\n${help}`;
    assert.deepEqual({ code, stderr }, { code: 2, stderr: message });
  });
}

test('--help, -h and help list every command', async () => {
  const help = await runCommand(['--help']);
  assert.deepEqual([help.code, help.stderr], [0, '']);
  for (const command of ALL) assert.match(help.stdout, new RegExp(`^ {2}${command} {2,}\\S`, 'm'));
  for (const word of ['-h', 'help']) assert.deepEqual(await runCommand([word]), help);
});

const WRONG: readonly (readonly [args: readonly string[], message: string])[] = [
  [['categories', 'add'], 'NAME must be given, once, received nothing'],
  [
    ['categories', 'add', 'Home', 'office'],
    'NAME must be given, once, received 2 words; one with spaces needs quotes',
  ],
  [
    ['categories', 'add', ' '],
    'NAME must be one line of text without white space around it or control characters, received " "',
  ],
  [['categories', 'add', 'a'.repeat(101)], 'NAME must have at most 100 characters, received 101'],
  [['categories', 'rename'], 'ID NAME must be given, once, received nothing'],
  [['categories', 'rename', '1'], 'ID NAME must be given, once, received 1 word'],
  [['categories', 'rename', '', 'Home'], 'ID NAME must be given, once, received ""'],
  [['categories', 'rename', '2147483648', 'Home'], 'ID must be 1 to 2147483647, received "2147483648"'],
  [['categories', 'rename', 'Work', 'Home'], 'ID must be 1 to 2147483647, received "Work"'],
  [['categories', 'rename', '1', 'a'.repeat(101)], 'NAME must have at most 100 characters, received 101'],
  [['serve', '--prot', '80'], 'There is no flag "--prot"; "--port" may be meant'],
  [
    ['check', '--databse=postgres://todo:s3cr3t@db'],
    'There is no flag "--databse"; "--database" may be meant',
  ],
  [['check', '--json'], 'There is no flag "--json"'],
  [['check', "--it's=s3cr3t"], 'There is no flag "--it\'s"'],
  [['check', '--port\u200b=1'], 'There is no flag "--port\\u200b"'],
  [['check', '-\u202e'], 'There is no flag "-\\u202e"'],
  [['check', '--postgres://todo:s3cr3t@db'], 'There is no flag "…"'],
  [['serve', 'todos'], 'The command has flags alone, received "todos"'],
  [['migrate', 'a\u200b', 'now'], 'The command has flags alone, received "a\\u200b"'],
  [['categories', 'list', 'all'], 'The command has flags alone, received "all"'],
  [
    ['serve', 'postgres://todo:s3cr3t@db/todos'],
    'The command has flags alone, received "postgres://…@db/todos"',
  ],
  [['healthcheck', '--', '--url=s3cr3t'], 'The command has flags alone, received "…"'],
  [['chek'], 'Cannot run "chek": it is not a command; "check" may be meant.'],
  [['tokn'], 'Cannot run "tokn": it is not a command; "token" may be meant.'],
  [['categorys', 'list'], 'Cannot run "categorys": it is not a command; "categories" may be meant.'],
  [['token', 'verfy'], 'Cannot run "token verfy": it is not a command; "verify" may be meant.'],
  [['backup'], 'FILE must be given, once, received nothing'],
  [['backup', ''], 'FILE must be given, once, received ""'],
  [['backup', '--keep', '3'], 'FILE must be given, once, received nothing'],
  [
    ['backup', 'a', 'b', '--keep', '3'],
    'FILE must be given, once, received 2 words; one with spaces needs quotes',
  ],
  ...['0', '-1', '1.5', '1e3', '0x3', ' 3', '3\n', 'all', '2147483648', '9'.repeat(1_000)].map(
    (wrong) =>
      [
        ['backup', 'no-such-folder', `--keep=${wrong}`],
        `--keep must be 1 to 2147483647, received ${JSON.stringify(wrong.slice(0, 100))}`,
      ] as const,
  ),
  [['export', ''], '[FILE] may be given once, received ""'],
  [['export', 'a', 'b'], '[FILE] may be given once, received 2 words; one with spaces needs quotes'],
];

for (const [args, message] of WRONG) {
  test(`todo-service ${quoted(args.join(' ')).slice(0, 40)} is wrong usage: 2`, async () => {
    const { code, stdout, stderr } = await runCommand(args);
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.equal(stderr.split('\n')[0], message);
  });
}

test('a number of copies to keep that begins with a dash is wrong usage: 2', async () => {
  const { code, stderr } = await runCommand(['backup', 'no-such-folder', '--keep', '-1']);
  assert.equal(code, 2);
  assert.match(stderr, /^Option '--keep' argument is ambiguous\.\n/);
});

for (const args of [
  ['serve', '--port'],
  ['token', 'create', '--name'],
]) {
  test(`todo-service ${args.join(' ')} is wrong usage: 2, without a stack`, async () => {
    const { code, stdout, stderr } = await runCommand(args);
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.match(
      stderr,
      new RegExp(`^[^\n]*'${args.at(-1)}[^\n]*\nRun "todo-service [^\n]*" for the flags\\.\n$`),
    );
  });
}

test('a data directory without a name, as an unset variable of the shell gives it, is not a default: 78', async () => {
  const { code, stderr } = await runCommand(['migrate', '--data-dir', '']);
  assert.equal(code, 78);
  assert.match(stderr, /\n {2}--data-dir must have a value, received ""\n/);
});

for (const command of COMMANDS) {
  test(`${command} with a database that is none is a fault in the configuration: 78`, async () => {
    const operands: Record<string, readonly string[]> = { 'categories rename': ['1', 'word'] };
    const one = /^(backup|restore|import|categories add)$/.test(command) ? ['word'] : [];
    const env = { TODO_DATABASE: 'mysql://todo:secret@localhost/todos' };
    const { code, stderr } = await runCommand([...command.split(' '), ...(operands[command] ?? one)], {
      env,
    });
    assert.equal(code, 78);
    assert.match(
      stderr,
      /^Cannot [^\n]*, the configuration has faults:\n {2}TODO_DATABASE must be [^\n]*\n$/,
    );
    assert.doesNotMatch(stderr, /secret/);
  });
}

test('a command for operators does not look at settings of serve that it does not use', async () => {
  const env = {
    TODO_PORT: 'http',
    TODO_LOG_LEVEL: 'loud',
    TODO_CACHE_MB: 'x',
    TODO_AUTH_CLOCK_TOLERANCE: 'x',
  };
  const { code, stderr } = await runCommand(['migrate', '--data-dir', dirname(newPath())], { env });
  assert.equal(code, 0, stderr);
});
