import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

test('docs/metrics.md has the sentence of every code', () => {
  const rows = readFileSync('docs/metrics.md', 'utf8').matchAll(/^- `([a-z-]+)`: (.+)$/gm);
  const source = readFileSync('src/auth/token/refusal.ts', 'utf8');
  const codes = source.matchAll(/^ {2}'?([a-z-]+)'?: '(.+)',$/gm);
  const sentences = (found: Iterable<RegExpMatchArray>) =>
    Object.fromEntries(Array.from(found, ([, code = '', sentence]) => [code, sentence]));
  const said = sentences(rows);
  assert.equal(Object.keys(said).length, 17);
  assert.deepEqual(said, sentences(codes));
});
