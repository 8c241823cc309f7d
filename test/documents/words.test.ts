import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { documentsToRead } from '../../tools/words.ts';

/** What was a dialect of this project, with what the field or plain English has for it. */
const OUT_OF_USE = [
  [/\b(?:the|one|this|a) walk\b/i, 'the pipeline'],
  [/\bdress(?:es|ed|ing)?\b/i, 'toProblem, CORS'],
  [/\b(?:the|this) house\b|\brooms\b/i, 'modules'],
  [/\bstrict look\b/i, 'request validation'],
  [/\bbut for\b/i, 'except'],
  [/\btakes? nothing of\b|\btook nothing of\b/i, 'reads nothing'],
  [/\btook not\b/i, 'did not take'],
  [/\bha(?:s|ve) not (?:a|an|any|the|one)\b|\bwhat it has not\b/i, 'lacks, has no'],
  [/\bfor \w+ neither\b/i, 'not even for'],
  [/\ball the same\b/i, 'nevertheless'],
  [/\botherwise than\b/i, 'not as'],
  [/\bits likes?\b/i, 'and others like it'],
] as const;

const SOURCES = globSync(['{src,client/src,conformance/src}/**/*.ts']);

test('no document, message or comment has a phrase that is out of use', () => {
  const files = [...documentsToRead(), 'CHANGELOG.md', ...SOURCES];
  assert.ok(files.length > 150, `only ${files.length} files were found`);
  const found = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        OUT_OF_USE.filter(([phrase]) => phrase.test(line)).map(
          ([, rather]) => `${file}:${index + 1}: rather "${rather}": ${line.trim().slice(0, 100)}`,
        ),
      ),
  );
  assert.deepEqual(found, []);
});
