import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { VARIABLES } from '../../src/settings.ts';
import { runProgram } from '../start.ts';

const OURS = VARIABLES.filter((name) => name.startsWith('TODO_'));

const PAGE = readFileSync('docs/configuration.md', 'utf8');

/** Settings with which every variable has something to say. */
const SQLITE = {
  TODO_AUTH_ISSUER: 'https://issuer.example',
  TODO_AUTH_AUDIENCE: 'todo-service',
  TODO_ADMIN_PORT: '9464',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318',
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
};
const POSTGRES = { ...SQLITE, TODO_DATABASE: 'postgres://todo@localhost/todos' };

/** The table of the settings, a row for each variable. */
const ROWS = PAGE.split('\n').flatMap((line) => {
  if (!line.startsWith('| `')) return [];
  const [, names = '', flag = '', otherwise = '', values = '', touch = ''] = line
    .split('|')
    .map((cell) => cell.trim());
  return [...names.matchAll(/`([A-Z_]+)`/g)].map(([, name = '']) => ({
    name,
    flag: flag.replaceAll('`', ''),
    /** The literal that the cell begins with; undefined when it is in words. */
    otherwise: /^`([^`]+)`/.exec(otherwise)?.[1],
    values,
    touch,
  }));
});

test('serve --help names every variable TODO_… that is read, and no other', async () => {
  const { stdout } = await runProgram(['serve', '--help']);
  const named = new Set(stdout.match(/\bTODO_[A-Z_]*[A-Z]/g));
  assert.deepEqual([...named].sort(), [...OURS].sort());
});

test('the documents name no variable TODO_… that is not read', () => {
  // A client's examples have variables of the client.
  const paths = globSync(['README.md', 'docs/*.md']).filter((path) => path !== 'docs/client.md');
  const texts = paths.map((path) => readFileSync(path, 'utf8'));
  const named = new Set(texts.join('\n').match(/\bTODO_[A-Z_]*[A-Z]\b/g));
  const known: readonly string[] = VARIABLES;
  assert.deepEqual(
    [...named].filter((name) => !known.includes(name)),
    [],
  );
});

test('docs/configuration.md has one row for each variable that is read, and says when to touch it', () => {
  assert.deepEqual(ROWS.map(({ name }) => name).sort(), [...VARIABLES].sort());
  assert.deepEqual(
    ROWS.filter(({ touch }) => touch === '').map(({ name }) => name),
    [],
  );
});

test('docs/configuration.md has the flag of each variable that serve --help shows', async () => {
  const { stdout } = await runProgram(['serve', '--help']);
  const shown = [...stdout.matchAll(/^ {2}(--[a-z-]+) \S+ +(TODO_[A-Z_]+) /gm)].map(([, flag, name]) => [
    name,
    flag,
  ]);
  const documented = ROWS.filter(({ flag }) => flag.startsWith('--')).map(({ name, flag }) => [
    name,
    flag.trim(),
  ]);
  assert.ok(shown.length > 0);
  assert.deepEqual(documented.sort(), shown.sort());
});

for (const { name, otherwise } of ROWS.filter(({ otherwise }) => otherwise !== undefined)) {
  test(`${name} set to ${otherwise}, its default in docs/configuration.md, is as if it were not set`, async () => {
    for (const surroundings of [SQLITE, POSTGRES]) {
      const others = Object.entries(surroundings).filter(([other]) => other !== name);
      const env = Object.fromEntries(others);
      assert.deepEqual(await readConfig({}, { ...env, [name]: otherwise }), await readConfig({}, env));
    }
  });
}

test('what docs/configuration.md says of values is what a fault says', async () => {
  const nonsense = Object.fromEntries(VARIABLES.map((name) => [name, '\u{1f641}']));
  const faults: string[] = [];
  for (const env of [
    { ...nonsense, TODO_ENVIRONMENT: '', TODO_PROFILE: '' },
    { ...nonsense, OTEL_SDK_DISABLED: '', OTEL_TRACES_EXPORTER: '', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a' },
  ]) {
    const read = await readConfig({ 'data-dir': join(tmpdir(), 'no-such-folder') }, env);
    assert.ok('faults' in read);
    faults.push(...read.faults);
  }
  let compared = 0;
  for (const { name, values } of ROWS) {
    const fault = faults.find((line) => line.startsWith(`${name} must be `)) ?? '';
    const [, from, to] = /from (\d+) to (\d+), received/.exec(fault) ?? [];
    const allowed = /must be one of (.+), received/.exec(fault)?.[1]?.matchAll(/"([^"]+)"/g) ?? [];
    const wanted = from === undefined ? [...allowed].map(([, one]) => `\`${one}\``) : [`${from} to ${to}`];
    if (name === 'OTEL_TRACES_SAMPLER') continue;
    for (const text of wanted) assert.ok(values.includes(text), `${name}: ${text} is not in "${values}"`);
    compared += wanted.length;
  }
  assert.ok(compared > 20, `only ${compared} values were compared`);
});
