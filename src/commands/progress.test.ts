import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slowProgress } from './progress.ts';

/** The lines of a backup whose progress is reported at these milliseconds. */
function said(...times: readonly (readonly [milliseconds: number, copied: number | 'checking'])[]): string {
  let now = 0;
  let lines = '';
  const onProgress = slowProgress(
    (line) => {
      lines += line;
    },
    () => now,
  );
  for (const [milliseconds, copied] of times) {
    now = milliseconds;
    onProgress(copied === 'checking' ? copied : { copied, total: 7_000_000 });
  }
  return lines;
}

test('a backup that takes less than 2 s says nothing', () => {
  assert.equal(said([0, 0], [1_500, 5e6], [1_999, 'checking']), '');
});

test('a longer one says a line every 2 s, and when the copy is being checked', () => {
  assert.equal(
    said([0, 0], [2_000, 1e6], [3_500, 3e6], [4_000, 4e6], [4_500, 'checking']),
    'Copied 1 of 7 MB\nCopied 4 of 7 MB\nChecking the copy\n',
  );
});
