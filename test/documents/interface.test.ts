import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { parseReplaceTodo } from '../../src/todos/requests.ts';

const page = await readFile(new URL('../../docs/interface.md', import.meta.url), 'utf8');

test('docs/interface.md lists the sentences of errors, as the service writes them [B12]', () => {
  const wrong = [
    {},
    { title: 5, done: 5, categoryId: 0 },
    { title: ' ', categoryId: 1 },
    { title: 'a'.repeat(101), categoryId: 1 },
    { title: '\0', categoryId: 1 },
  ];
  const parsed = wrong.map(parseReplaceTodo);
  const written = parsed.flatMap((one) => ('errors' in one ? Object.values(one.errors).flat() : []));
  const [, listed = ''] = /`errors` has an array.*?```\n(.*?)\n```/s.exec(page) ?? [];
  assert.deepEqual(listed.split('\n').sort(), written.sort());

  const misspelled = parseReplaceTodo({ Title: 'a', categoryId: 1 });
  const [[sentence = ''] = []] = 'errors' in misspelled ? Object.values(misspelled.errors) : [];
  assert.ok(page.replaceAll('\n', ' ').includes(`\`${sentence}\``));
});
