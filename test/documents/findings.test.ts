import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

test('each finding has one row of the page, and each row a file', () => {
  const files = readdirSync('findings').filter((name) => name.endsWith('.sh'));
  const rows = readFileSync('findings/README.md', 'utf8').matchAll(/^\| \[`([^`]+)`\]\(\1\) \|/gm);
  assert.deepEqual(Array.from(rows, ([, name = '']) => name).toSorted(), files.toSorted());
});

test('each finding says what was guessed and what was seen, and works in a temporary folder', () => {
  for (const name of readdirSync('findings').filter((each) => each.endsWith('.sh'))) {
    const text = readFileSync(`findings/${name}`, 'utf8');
    for (const part of [/^# Guess: /m, /^# Seen: /m, /^set -eu$/m, /mktemp -d/])
      assert.match(text, part, `${name} has no ${part.source}`);
  }
});
