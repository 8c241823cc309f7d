import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { overviews } from '../../tools/overview.ts';

const README = readFileSync('README.md', 'utf8');

const PICTURES = Array.from(
  README.matchAll(/(?:!\[[^\]]+\]\(|src(?:set)?=")(docs\/[^)"]+\.(?:png|svg))[)"]/g),
  ([, path = '']) => path,
);

test('README.md shows the overview of both schemes as tools/overview.ts draws it', () => {
  for (const [name, svg] of overviews()) {
    const path = `docs/pictures/${name}`;
    assert.equal(readFileSync(path, 'utf8'), svg);
    assert.ok(PICTURES.includes(path), path);
  }
});

test('a picture of README.md has at most 150 kB', () => {
  assert.ok(PICTURES.length >= 4, `only ${PICTURES.length} were found`);
  assert.deepEqual(
    PICTURES.filter((path) => statSync(path).size > 150_000),
    [],
  );
});
