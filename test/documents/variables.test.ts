import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { settingOf, VARIABLES } from '../../src/settings.ts';
import { runProgram } from '../start.ts';

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

test('serve --help has the flag of each variable that has one', async () => {
  const { stdout } = await runProgram(['serve', '--help']);
  const shown = [...stdout.matchAll(/^ {2}(--[a-z-]+) \S+ +(TODO_[A-Z_]+), /gm)].map(([, flag, name]) => [
    name,
    flag,
  ]);
  assert.deepEqual(shown, [
    ['TODO_PROFILE', '--profile'],
    ['TODO_ENVIRONMENT', '--environment'],
    ['TODO_HOST', '--host'],
    ['TODO_PORT', '--port'],
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
