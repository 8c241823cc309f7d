import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readSettings } from '../../src/settings/read.ts';
import { settingOf, VARIABLES } from '../../src/settings/table.ts';

test('docs/configuration.md has each setting once, in a heading or for traces alone, and its example is another value than the default, which the service takes', () => {
  const page = readFileSync('docs/configuration.md', 'utf8');
  const named = Array.from(page.matchAll(/^(?:###|- For traces alone:) `(\w+)`$/gm), ([, name = '']) => name);
  assert.deepEqual(named.sort(), [...VARIABLES].sort());
  for (const variable of VARIABLES) {
    const { example, default: otherwise } = settingOf(variable);
    assert.notEqual(example, String(otherwise), variable);
    const settings = readSettings({ [variable]: example }, {});
    settings.read(variable);
    assert.deepEqual(settings.faults, [], variable);
  }
});

test('a module reads each setting of the table', () => {
  const files = globSync('src/**/*.ts').filter((file) => !/\.test\.ts$|settings\/table\.ts$/.test(file));
  const code = files.map((file) => readFileSync(file, 'utf8')).join();
  assert.deepEqual(
    VARIABLES.filter((variable) => !code.includes(`'${variable}'`)),
    [],
  );
});
