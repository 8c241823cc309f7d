import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { MEMBERS } from '../../src/shared-list/members.ts';
import { parseReplaceTodo } from '../../src/shared-list/requests.ts';

const page = await readFile(new URL('../../docs/interface.md', import.meta.url), 'utf8');

/** Each breaks a rule of a member; the last is as long as a body may be. */
const WRONG = [{}, ' ', '\0', 'a'.repeat(65_536)];

test('docs/interface.md lists the sentences of errors, as the service writes them [B12]', () => {
  const wrong = WRONG.map((value) => Object.fromEntries(MEMBERS.map(({ name }) => [name, value])));
  const errors = [{}, ...wrong].flatMap((body) => {
    const parsed = parseReplaceTodo(body);
    return 'errors' in parsed ? Object.values(parsed.errors).flat() : [];
  });
  const written = [...new Set(errors)];
  const [, listed = ''] = /`errors` has an array.*?```\n(.*?)\n```/s.exec(page) ?? [];
  assert.deepEqual(listed.split('\n').sort(), written.sort());

  const misspelled = parseReplaceTodo({ Title: 'a', categoryId: 1 });
  const [[sentence = ''] = []] = 'errors' in misspelled ? Object.values(misspelled.errors) : [];
  assert.ok(page.replaceAll('\n', ' ').includes(`\`${sentence}\``));
});
