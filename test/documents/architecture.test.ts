import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { modulesIn } from '../../tools/documents.ts';
import { importsOfModules, moduleOf } from '../../tools/imports.ts';

const MODULES = modulesIn(readFileSync('docs/architecture.md', 'utf8'));
const IMPORTS = importsOfModules();

test('docs/architecture.md has a row for every module', () => {
  const folders = globSync('src/**/*.ts')
    .map(moduleOf)
    .filter((module) => !module.endsWith('.ts'));
  assert.deepEqual(
    [...new Set(folders)].filter((module) => !MODULES.has(module)),
    [],
  );
});

test('no module imports another, or names its types, unless docs/architecture.md allows it', () => {
  assert.ok(IMPORTS.length > 200, `only ${IMPORTS.length} imports were found`);
  assert.deepEqual(
    IMPORTS.filter(({ from, to, isType }) => {
      const { imports = [], types = [] } = MODULES.get(from) ?? {};
      const isGround = !MODULES.has(to);
      return !isGround && !imports.includes(to) && !(isType && types.includes(to));
    }),
    [],
  );
});

test('docs/architecture.md allows no import that there is not', () => {
  const unused = [...MODULES].flatMap(([from, { imports, types }]) => {
    const ofModule = IMPORTS.filter((one) => one.from === from);
    return [
      ...imports.filter((to) => !ofModule.some((one) => one.to === to && !one.isType)),
      ...types.filter((to) => !ofModule.some((one) => one.to === to && one.isType)),
    ].map((to) => `${from} → ${to}`);
  });
  assert.deepEqual(unused, []);
});
