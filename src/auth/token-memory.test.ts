import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Remembered, rememberTokens } from './token-memory.ts';

function remembered(name: string): Remembered {
  return {
    authentication: { outcome: 'identified', identity: { name, roles: [] } },
    times: { exp: 1, nbf: undefined, iat: undefined },
  };
}

test('what was remembered is found by the very same text', () => {
  const memory = rememberTokens({ entries: 4, bytes: 1000 });
  const ada = remembered('ada');
  memory.set('Bearer a', ada);
  assert.equal(memory.get('Bearer a'), ada);
  assert.equal(memory.get('bearer a'), undefined);
});

test('never more entries than allowed', () => {
  const memory = rememberTokens({ entries: 10, bytes: 1000 });
  const texts = Array.from({ length: 50 }, (_, at) => `token ${at}`);
  for (const text of texts) memory.set(text, remembered(text));
  const found = texts.filter((text) => memory.get(text) !== undefined);
  assert.ok(found.length <= 10 && found.length >= 5, String(found.length));
  assert.equal(found.at(-1), 'token 49');
});

test('never more bytes than allowed', () => {
  const memory = rememberTokens({ entries: 1000, bytes: 100 });
  const texts = Array.from({ length: 50 }, (_, at) => String(at).padStart(10, '0'));
  for (const text of texts) memory.set(text, remembered(text));
  const found = texts.filter((text) => memory.get(text) !== undefined);
  assert.ok(found.length <= 10 && found.length >= 5, String(found.length));
});

test('a token longer than half of everything is not remembered', () => {
  const memory = rememberTokens({ entries: 10, bytes: 100 });
  memory.set('x'.repeat(51), remembered('ada'));
  assert.equal(memory.get('x'.repeat(51)), undefined);
});

test('a token in use outlives others that come and go', () => {
  const memory = rememberTokens({ entries: 10, bytes: 1000 });
  memory.set('in use', remembered('ada'));
  for (let at = 0; at < 100; at += 1) {
    memory.set(`token ${at}`, remembered('bob'));
    assert.notEqual(memory.get('in use'), undefined, String(at));
  }
});

test('remembering a token anew replaces what was remembered', () => {
  const memory = rememberTokens({ entries: 2, bytes: 1000 });
  memory.set('a', remembered('ada'));
  memory.set('b', remembered('bob'));
  const eve = remembered('eve');
  memory.set('a', eve);
  assert.equal(memory.get('a'), eve);
});

test('clearing forgets both what is fresh and what is not', () => {
  const memory = rememberTokens({ entries: 4, bytes: 1000 });
  for (const text of ['a', 'b', 'c']) memory.set(text, remembered(text));
  memory.clear();
  for (const text of ['a', 'b', 'c']) assert.equal(memory.get(text), undefined);
});
