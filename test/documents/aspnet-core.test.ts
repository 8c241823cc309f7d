import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { test } from 'node:test';

const root = new URL('../../', import.meta.url);

/** Every test source but this folder's, as one text. */
async function testSources(): Promise<string> {
  const files = await Array.fromAsync(glob(['{src,test}/**/*.ts', 'conformance/src/**/*.ts'], { cwd: root }));
  const sources = files.filter((file) => file.endsWith('.test.ts') || !file.startsWith('src/'));
  return (await Promise.all(sources.map((file) => readFile(new URL(file, root), 'utf8')))).join('\n');
}

test('docs/aspnet-core.md cites in every row a test that exists', async () => {
  const page = await readFile(new URL('docs/aspnet-core.md', root), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| ') && !/^\| Case \|/.test(line));
  const sources = await testSources();
  assert.ok(rows.length > 40, `only ${rows.length} rows were found`);
  for (const row of rows) {
    const title = /`([^`]*)` \|$/.exec(row)?.[1];
    assert.ok(title?.includes(' · ') && sources.includes(title), `no test is called "${title}" in: ${row}`);
  }
});
