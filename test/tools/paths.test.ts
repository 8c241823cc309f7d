import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { PAGES } from '../../tools/pages.ts';
import { PARTS } from '../mutants/parts.ts';

const read = (path: string) => readFileSync(path, 'utf8');

/** The patterns of each alternative: of `{a,b}`, and of `!(a|b)`, which names what is left out. */
function alternatives(pattern: string): readonly string[] {
  const [all, list] =
    /\{([^{}]+)\}|!\(([^()]+)\)\/.*/.exec(pattern)?.filter((part) => part !== undefined) ?? [];
  if (all === undefined || list === undefined) return [pattern];
  const each = list.split(/[,|]/).flatMap((one) => alternatives(pattern.replace(all, one)));
  return all.startsWith('{') ? each : [...each, pattern.replace(/!\([^()]+\)/, '*')];
}

/** A path in the checkout, with wildcards or without. */
const PATH =
  /(?<![\w/.$}-])(?:bench|deploy|docs|packages|site|src|test|tools)\/(?:[\w.*/-]|\{[^{}]*\}|!\([^()]*\))*[\w*]/g;

function pathsIn(text: string): readonly string[] {
  return text.match(PATH) ?? [];
}

function assertFound(patterns: readonly string[], least: number): void {
  const all = patterns.flatMap(alternatives);
  assert.ok(all.length >= least, `only ${all.length} were found`);
  assert.deepEqual(
    all.filter((pattern) => globSync(pattern).length === 0),
    [],
  );
}

test('every path and pattern of a script of package.json, and of what runs the tests, finds a file', () => {
  assertFound(pathsIn([...Object.values(manifest.scripts), read('tools/test')].join('\n')), 40);
});

test('every path and pattern of .ci/run and the workflows finds a file', () => {
  assertFound(['.ci/run', ...globSync('.github/workflows/*.yml')].map(read).flatMap(pathsIn), 20);
});

test('every path and pattern of TypeScript that a program or a test names finds a file', () => {
  const programs = globSync('{bench,packages,site,src,test,tools}/**/*.ts', {
    exclude: ['**/node_modules', '**/made'],
  });
  const paths = programs.map(read).flatMap(pathsIn);
  assertFound(
    paths.filter((path) => path.endsWith('.ts')),
    100,
  );
});

test('every path and pattern of a tsconfig.json finds a file', () => {
  const configs = globSync('{,bench/,packages/*/,site/,test/generators/}tsconfig*.json');
  assertFound(
    configs.flatMap((path) =>
      JSON.parse(read(path)).include.map((name: string) => join(dirname(path), name)),
    ),
    10,
  );
});

test('every path of our folders, and every file of TypeScript, that a page names is there', () => {
  const text = PAGES.map(read).join('\n');
  assertFound(pathsIn(text), 100);
  const files = globSync('{bench,packages,site,src,test,tools}/**/*.ts')
    .map((path) => `/${path}\n`)
    .join('');
  // A page may say of which folder its paths are.
  const named = Array.from(text.matchAll(/`((?:[\w.-]+\/)*[\w.-]+\.ts)`/g), ([, path = '']) => path);
  assert.ok(named.length > 100, `only ${named.length} were found`);
  assert.deepEqual(
    named.filter((path) => !files.includes(`/${path}\n`)),
    [],
  );
});

test('every test that a part of the mutants leaves out is there', () => {
  const texts = globSync('{src,test/!(mutants)}/**/*.ts').map(read);
  const names = Object.values(PARTS).flatMap(({ without = '' }) => without.split('|'));
  assert.deepEqual(
    names.filter((name) => !texts.some((text) => text.includes(name))),
    [],
  );
});
