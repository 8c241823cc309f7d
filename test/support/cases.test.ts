import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';

const [, script = ''] = readFileSync('tools/test', 'utf8').split('  cases)');
const run = new Set(globSync([...script.matchAll(/'(test\/[^']+)'/g)].map(([, path = '']) => path)));
const [, names = ''] = /--test-name-pattern='\/(.+?)\/'/.exec(script) ?? [];

const texts = globSync('{src,test}/**/*.ts', { exclude: ['**/node_modules', '**/made'] }).map(
  (path) => [path, readFileSync(path, 'utf8')] as const,
);

/** The test files of which a file is a part. */
const filesOf = (path: string): readonly string[] =>
  path.endsWith('.test.ts')
    ? [path]
    : texts.filter(([, text]) => text.includes(`/${basename(path)}'`)).flatMap(([other]) => filesOf(other));

test('every test that makes fewer cases in "npm test" makes all of them in "npm run test:cases"', () => {
  let found = 0;
  for (const [path, text] of texts)
    for (const { index } of text.matchAll(/\bcases\(\d/g)) {
      found += 1;
      const title =
        text
          .slice(0, index)
          .match(/\btest\(\s*[`'].*/g)
          ?.at(-1) ?? '';
      assert.match(title, new RegExp(names), path);
      for (const file of filesOf(path)) assert.ok(run.has(file), `${file} is missing in the script`);
    }
  assert.ok(found > 8, `only ${found} were found`);
});
