import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKey } from './create-keys.ts';
import type { TodoMembers } from './members.ts';

const MILK = { title: 'Buy milk', done: false, categoryId: 2 } as TodoMembers;

test('createKey makes the same digests as ever: databases and exports have them [I2]', () => {
  assert.deepEqual(
    createKey(['https://issuer.example', 'ada'], 'abc', { ...MILK, categoryId: 1 } as TodoMembers),
    {
      key: 'r8YvK3HHWP3lqMN2F6TjKAeTKb_9zkZloM4jB23hWD8',
      body: 'eF9SfEAUWdxCl6VwZ_8hXM0lhH9ZdNt0TwkJm2wfVBU',
    },
  );
});

test('another issuer, subject or key is another one, however the parts are cut [I1]', () => {
  const parts = [
    ['https://a.example', 'ada', 'k'],
    ['https://b.example', 'ada', 'k'],
    ['https://a.example', 'eve', 'k'],
    ['https://a.example', 'ada', 'l'],
    ['https://a.example', 'adak', ''],
    ['https://a.exampleada', '', 'k'],
    ['https://a.example","ada', '', 'k'],
    ['https://a.example', '\ud800', 'k'],
    ['https://a.example', '\ud801', 'k'],
    ['https://a.example', '\ufffd', 'k'],
  ] as const;
  const seen = new Set(parts.map(([issuer, subject, key]) => createKey([issuer, subject], key, MILK).key));
  assert.equal(seen.size, parts.length);
});

test('another title or category is another body, and nothing else is [I4]', () => {
  const caller = ['https://a.example', 'ada'] as const;
  const bodies = [MILK, { title: 'Buy milk', categoryId: 1 }, { title: 'Buy milk ', categoryId: 2 }];
  const seen = new Set(bodies.map((body) => createKey(caller, 'k', body as TodoMembers).body));
  assert.equal(seen.size, 3);
  assert.equal(createKey(caller, 'other', { ...MILK }).body, createKey(caller, 'k', MILK).body);
});

test('what is kept has one size, whatever a caller sends [I1]', () => {
  const { key, body } = createKey(['i'.repeat(9_000), 's'.repeat(9_000)], 'k'.repeat(128), MILK);
  assert.match(key, /^[\w-]{43}$/);
  assert.match(body, /^[\w-]{43}$/);
});
