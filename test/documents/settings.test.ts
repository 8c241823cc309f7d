import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readSettings } from '../../src/settings/read.ts';
import { settingOf, VARIABLES, type Variable } from '../../src/settings/table.ts';

test('docs/configuration.md has each setting once, in a heading or for traces alone', () => {
  const page = readFileSync('docs/configuration.md', 'utf8');
  const named = Array.from(page.matchAll(/^(?:###|- For traces alone:) `(\w+)`$/gm), ([, name = '']) => name);
  assert.deepEqual(named.sort(), [...VARIABLES].sort());
});

test('each setting takes a value that is not its default: the example of docs/configuration.md, or one of those that it lists', () => {
  for (const variable of VARIABLES) {
    const value = otherValueOf(variable);
    assert.notEqual(value, String(settingOf(variable).default), variable);
    const settings = readSettings({ [variable]: value }, {});
    settings.read(variable);
    assert.deepEqual(settings.faults, [], variable);
  }
});

function otherValueOf(variable: Variable): string | undefined {
  const setting = settingOf(variable);
  if ('text' in setting) return setting.example;
  if ('oneOf' in setting) return setting.oneOf.find((one) => one !== setting.default);
  return 'to' in setting ? String(setting.to) : '0.0.0.0';
}

test('a module reads each setting of the table', () => {
  const files = globSync('src/**/*.ts').filter((file) => !/\.test\.ts$|settings\/table\.ts$/.test(file));
  const code = files.map((file) => readFileSync(file, 'utf8')).join();
  assert.deepEqual(
    VARIABLES.filter((variable) => !code.includes(`'${variable}'`)),
    [],
  );
});
