import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { readConfig } from '../../src/server/config.ts';
import { SETTINGS, settingOf, VARIABLES } from '../../src/settings/table.ts';
import { LIMITS } from '../../src/wire/limits.ts';
import { runCommand } from '../support/run-command.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const PAGES = globSync(['*.md', 'docs/*.md', 'deploy/*/*.md', 'packages/*/README.md']).map(
  (path) => [path, read(path).replaceAll('\\\n', '')] as const,
);

/** All that `pattern` finds in the code of the pages, in its first and second group. */
function onPages(pattern: RegExp): { page: string; first: string; second: string }[] {
  return PAGES.flatMap(([page, text]) =>
    [...(text.match(/```.*?```|`[^`\n]+`/gs) ?? []).join('\n').matchAll(pattern)].map(
      ([, first = '', second = '']) => ({ page, first, second }),
    ),
  );
}

const helpOf = async (...words: string[]) => (await runCommand([...words, '--help'])).stdout;

test('every npm script that a document names is there', () => {
  const named = onPages(/\bnpm run (?:-s |--silent )?([a-z][a-z:-]*)/g);
  assert.ok(named.length > 10, `only ${named.length} were found`);
  assert.deepEqual(
    named.filter(({ first }) => !Object.hasOwn(manifest.scripts, first)),
    [],
  );
});

test('every workspace that a document names is there', () => {
  const named = onPages(/ --workspace[ =](\S+)/g);
  assert.ok(named.length > 1, `only ${named.length} were found`);
  assert.deepEqual(
    named.filter(({ first }) => !manifest.workspaces.includes(first)),
    [],
  );
});

test('every command of todo-service that a document shows is there, with its flags', async () => {
  const commands = [...(await helpOf()).matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2,}/gm)].map(
    ([, name = '']) => name,
  );
  const shown = onPages(
    /(?<![\w./=-]|-[a-z] )todo-service ((?:[a-z]+ )?[a-z]+(?![\w-]))((?: [^|`#\n&>]+)?)/gm,
  );
  assert.ok(shown.length > 30, `only ${shown.length} were found`);
  const helps = new Map<string, readonly string[]>();
  for (const { page, first, second } of shown) {
    const [word = ''] = first.split(' ');
    const command = [first, word].find((words) => commands.includes(words));
    const isGroup = commands.some((name) => name.startsWith(`${word} `));
    assert.ok(command !== undefined || isGroup, `${page}: todo-service ${first}`);
    const flags = `${second} `.match(/(?<=\s)--[a-z-]+/g) ?? [];
    if (command === undefined || flags.length === 0) continue;
    const help = helps.get(command) ?? (await helpOf(...command.split(' '))).match(/--[a-z-]+/g) ?? [];
    helps.set(command, help);
    for (const flag of flags) assert.ok(help.includes(flag), `${page}: todo-service ${first} ${flag}`);
  }
});

test('docs/commands.md has the exit codes of all commands, and no other', () => {
  const texts = globSync('src/commands/*.ts').flatMap(
    (path) => read(path).match(/(?<=Exit codes: ).*?(?=\n\n)/gs) ?? [],
  );
  assert.ok(texts.length >= 12, `only ${texts.length} commands have exit codes`);
  const codes = texts.flatMap((text) =>
    text.split(/[,.]\s+/).flatMap((part) => /^(\d+)(?: or (\d+))?(?: |$)/.exec(part)?.slice(1) ?? []),
  );
  const [, list = ''] = read('docs/commands.md').split('## Exit codes');
  const rows = [...list.matchAll(/^- \*\*(\d[\d, ]*)\*\*: /gm)].flatMap(([, cell = '']) => cell.split(', '));
  assert.deepEqual(new Set(rows), new Set(codes.filter((code) => code !== undefined)));
});

test('CONTRIBUTING.md has every part of .ci/run, in its order', () => {
  const [, list = ''] = /its\s+parts:\n\n(.*?)\n\n/s.exec(read('CONTRIBUTING.md')) ?? [];
  const parts = [...read('.ci/run').matchAll(/^ {2}part ([\w-]+) /gm)].map(([, part]) => part);
  assert.deepEqual(
    [...list.matchAll(/^- `([\w-]+)`: /gm)].map(([, part]) => part),
    parts,
  );
});

test('docs/limits.md has the times that the transport allows', () => {
  const { headersTimeout, requestTimeout, connectionsCheckingInterval, answerTimeout } = LIMITS;
  const until = (limit: number) => `${limit / 1_000} to ${(limit + connectionsCheckingInterval) / 1_000} s`;
  const rows = read('docs/limits.md').match(/^- an? .*$/gm) ?? [];
  const wanted = [
    ['a head that does not end', `: 408 after ${until(headersTimeout)}`],
    ['a body that does not end', `: 408 after ${until(requestTimeout)}`],
    ['an idle connection', `: after ${SETTINGS.TODO_KEEP_ALIVE_SECONDS.default} s (`],
    ['a client that reads nothing', `: after ${answerTimeout / 1_000} to ${answerTimeout / 1_000 + 1} s`],
  ] as const;
  for (const [what, limit] of wanted) {
    const found = rows.filter((row) => row.startsWith(`- ${what}`) && row.includes(limit));
    assert.equal(found.length, 1, `${what}${limit}`);
  }
});

test('CHANGELOG.md names the versions of the schema that its newest version makes', () => {
  const versions = ['sqlite', 'postgres'].map(
    (engine) => globSync(`src/storage/${engine}/migrations/[0-9]*.sql`).length,
  );
  const said = /SQLite has schema version (\d+), PostgreSQL\s+version (\d+)/.exec(read('CHANGELOG.md'));
  assert.deepEqual(said?.slice(1).map(Number), versions);
});

const OURS = VARIABLES.filter((name) => name.startsWith('TODO_'));

/** Settings with which every variable has something to say. */
const SQLITE = {
  TODO_AUTH_ISSUER: 'https://issuer.example',
  TODO_AUTH_AUDIENCE: 'todo-service',
  TODO_ADMIN_PORT: '9464',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318',
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
};
const POSTGRES = { ...SQLITE, TODO_DATABASE: 'postgres://todo@localhost/todos' };

test('serve --help names every variable TODO_… that is read, and no other', async () => {
  const stdout = await helpOf('serve');
  const named = new Set(stdout.match(/\bTODO_[A-Z_]*[A-Z]/g));
  assert.deepEqual([...named].sort(), [...OURS].sort());
});

test('the documents name no variable TODO_… that is not read', () => {
  const paths = globSync(['README.md', 'docs/*.md']);
  const named = new Set(
    paths
      .map(read)
      .join('\n')
      .match(/\bTODO_[A-Z_]*[A-Z]\b/g),
  );
  const known: readonly string[] = VARIABLES;
  assert.deepEqual(
    [...named].filter((name) => !known.includes(name)),
    [],
  );
});

test('every page that serve --help names is there', async () => {
  const named = [...(await helpOf('serve')).matchAll(/\((docs\/[^)#]*)(?:#[\w-]+)?\)/g)].map(
    ([, path = '']) => path,
  );
  assert.ok(named.length > 10, `only ${named.length} were found`);
  assert.deepEqual(
    named.filter((path) => !path.endsWith('.md') || !existsSync(path)),
    [],
  );
});

test('serve --help has the flag of each variable that has one', async () => {
  const stdout = await helpOf('serve');
  const shown = [...stdout.matchAll(/^ {2}(--[a-z-]+) \S+ +(TODO_[A-Z_]+), /gm)].map(([, flag, name]) => [
    name,
    flag,
  ]);
  assert.deepEqual(shown, [
    ['TODO_PROFILE', '--profile'],
    ['TODO_ENVIRONMENT', '--environment'],
    ['TODO_HOST', '--host'],
    ['TODO_PORT', '--port'],
    ['TODO_SOCKET', '--socket'],
    ['TODO_DATA_DIR', '--data-dir'],
    ['TODO_DATABASE', '--database'],
  ]);
});

for (const variable of VARIABLES) {
  const { default: otherwise } = settingOf(variable);
  if (otherwise === undefined) continue;
  test(`${variable} set to its default, ${otherwise}, is as if it were not set`, async () => {
    for (const surroundings of [SQLITE, POSTGRES]) {
      const others = Object.entries(surroundings).filter(([other]) => other !== variable);
      const env = Object.fromEntries(others);
      assert.deepEqual(await configOf({ ...env, [variable]: String(otherwise) }), await configOf(env));
    }
  });
}

async function configOf(env: Readonly<Record<string, string>>) {
  const read = await readConfig({}, env);
  assert.ok('config' in read);
  return read.config;
}
