import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { modulesIn } from '../../tools/documents.ts';
import { filesInCircles, importsOfFiles, importsOfModules, moduleOf } from '../../tools/imports.ts';

const MODULES = modulesIn(readFileSync('docs/architecture.md', 'utf8'));
const FLOORS = [...MODULES.keys()];
const IMPORTS = importsOfModules();

/** What any module may import, because it imports none. */
const GROUND: readonly string[] = ['events.ts', 'lib'];

test('docs/architecture.md has a row for every module', () => {
  const modules = globSync('src/**/*.ts').map(moduleOf);
  assert.deepEqual(
    [...new Set(modules)].filter((module) => !MODULES.has(module) && !GROUND.includes(module)),
    [],
  );
});

test('no module imports another, or names its types, unless docs/architecture.md allows it', () => {
  assert.ok(IMPORTS.length > 200, `only ${IMPORTS.length} imports were found`);
  assert.deepEqual(
    IMPORTS.filter(({ from, to, isType }) => {
      const { imports = [], types = [] } = MODULES.get(from) ?? {};
      return !GROUND.includes(to) && !imports.includes(to) && !(isType && types.includes(to));
    }),
    [],
  );
});

test('every module of docs/architecture.md imports only what stands below it', () => {
  assert.deepEqual(
    IMPORTS.filter(({ from, to }) => !GROUND.includes(to) && FLOORS.indexOf(to) <= FLOORS.indexOf(from)),
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

test('a file whose correctness hangs on an order names the tests that hold it', () => {
  const page = readFileSync('docs/architecture.md', 'utf8');
  const [, list = ''] = page.split('\n## Where correctness hangs on an order\n');
  const [, ...orders] = list.split('\n- ');
  assert.ok(orders.length > 10, `only ${orders.length} orders were found`);
  for (const order of orders) {
    const [file = '', ...others] = globSync(`src/**/${/^`([^`]+)`/.exec(order)?.[1]}`);
    assert.deepEqual(others, [], order);
    const source = readFileSync(file, 'utf8');
    const tests = Array.from(order.matchAll(/\]\(\.\.\/([^)]+)\)/g), ([, path = '']) => path);
    assert.notEqual(tests.length, 0, order);
    for (const path of tests) assert.ok(source.includes(`\`${path}\``), `${file} does not name ${path}`);
  }
});

test('what explains a refused token is imported by the command that shows it, and by nothing on the way of a request', () => {
  const isAdvice = (path: string) => path.startsWith('src/commands/explain/');
  const importing = importsOfFiles().filter(({ file, imported }) => isAdvice(imported) && !isAdvice(file));
  assert.deepEqual(
    importing.map(({ file }) => file),
    ['src/commands/token-verify.ts'],
  );
});

test('no name in src is a word for which CONTRIBUTING.md has a better one', () => {
  const named =
    /(?:[.#({]\s*|\b(?:const|function|let|readonly)\s+)(?:tell|mark|trouble)(?:[A-Z]\w*)?\s*[?:;,=()}]/;
  for (const file of globSync('src/**/*.ts')) assert.doesNotMatch(readFileSync(file, 'utf8'), named, file);
});

test('no file of src leads back to itself by what it imports, types included', () => {
  assert.deepEqual(filesInCircles(), []);
});
