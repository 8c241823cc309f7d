import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { documentsToRead, MAX_WORDS, wordsIn } from '../../tools/words.ts';

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

/** Facts that stood on several pages once, each with its page. Other pages link to it. */
const HOMES = [
  [/\b0\.\d+ MB: itself/, 'docs/limits.md'],
  [/\b1,000 connections\b/, 'docs/limits.md'],
  [/\b100 (?:header )?lines\b/, 'docs/limits.md'],
  [/\b5\.5 s\b/, 'docs/limits.md'],
  [/\b119 (?:to|and) 201 MB\b/, 'docs/limits.md'],
  [/opentelemetry\/sdk-trace@/, 'docs/installation.md'],
  [/\b15\d MB\b/, 'docs/installation.md'],
  [/TODO_SHUTDOWN_SECONDS` \+/, 'docs/operations.md'],
  [/\b(?:65|66|69|75|78)\b.*\bfaults in the configuration|\| 78 \|/, 'docs/operations.md'],
  [/within 24 hours|\b24 hours\*\*/, 'docs/repeating.md'],
] as const;

const SOURCES = globSync(['{src,client/src,conformance/src,test,endurance,tools,bench}/**/*.ts'], {
  exclude: ['bench/node_modules/**', 'test/documents/words.test.ts'],
});

test('no document, message or comment has a phrase that is out of use', () => {
  const decisions = globSync('docs/decisions/*.md').filter(
    (path) => !readFileSync(path, 'utf8').includes('**No longer holds:**'),
  );
  const files = [...documentsToRead(), 'CHANGELOG.md', ...decisions, ...SOURCES];
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

test('a fact that has a page stands there and on no other', () => {
  const pages = documentsToRead().map((path) => [path, readFileSync(path, 'utf8')] as const);
  for (const [fact, home] of HOMES) {
    const found = pages.filter(([, text]) => fact.test(text)).map(([path]) => path);
    assert.deepEqual(found, [home], String(fact));
  }
});

test(`the documents that somebody has to read have at most ${MAX_WORDS} words`, (t) => {
  const words = documentsToRead().map((path) => wordsIn(readFileSync(path, 'utf8')));
  const sum = words.reduce((total, count) => total + count, 0);
  t.diagnostic(`${sum} words`);
  assert.ok(words.length > 15, `only ${words.length} documents were found`);
  assert.ok(sum <= MAX_WORDS, `${sum} words: "npm run size" lists the pages`);
});

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
