import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

/** Characters. */
const LONGEST = 120;

test('no line of a document is longer than 120 characters, except rows of tables and what a program printed', () => {
  const pages = globSync(['*.md', 'docs/**/*.md', 'conformance/*.md']);
  assert.ok(pages.length > 30, `only ${pages.length} documents were found`);
  assert.deepEqual(
    pages.flatMap((page) => longLines(readFileSync(page, 'utf8')).map((line) => `${page}:${line}`)),
    [],
  );
});

/** The numbers of lines that could be shorter. Code has the name of its language; what was printed has none, or is JSON. */
function longLines(markdown: string): readonly number[] {
  let fence: string | undefined;
  return markdown.split('\n').flatMap((line, index) => {
    const [, language] = /^\s*```(\w*)/.exec(line) ?? [];
    if (language !== undefined) fence = fence === undefined ? language : undefined;
    const isPrinted = fence === '' || fence === 'json';
    return isPrinted || line.startsWith('|') || [...line].length <= LONGEST ? [] : index + 1;
  });
}
