import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCreateTodo, parseReplaceTodo } from './bodies.ts';

const good = { title: 'Buy milk', categoryId: 1 };

const titles = ['x', ' x ', 'x'.repeat(100), '😀'.repeat(100), 'é', '\u200d\n', '\ufeff', '\u0001'];

for (const title of titles) {
  test(`B10 · the title ${JSON.stringify(title).slice(0, 40)} is kept exactly as sent`, () => {
    assert.deepEqual(parseCreateTodo({ ...good, title }), { value: { title, categoryId: 1 } });
  });
}

const blank = 'title must not be empty or only white space.';
const unstorable = 'title must be well-formed Unicode text without U+0000.';
const badTitles: readonly (readonly [unknown, ...string[]])[] = [
  ['', blank],
  [' \t\n', blank],
  ['\u00a0\u2003\u3000\u0085', blank],
  ['x'.repeat(101), 'title must have at most 100 characters.'],
  ['😀'.repeat(101), 'title must have at most 100 characters.'],
  [' '.repeat(101), blank, 'title must have at most 100 characters.'],
  ['a\u0000b', unstorable],
  ['\ud800', unstorable],
  ['\udc00\ud800', unstorable],
  [null, 'title must be a string.'],
  [5, 'title must be a string.'],
  [['x'], 'title must be a string.'],
];

for (const [title, ...sentences] of badTitles) {
  test(`B10, B12 · the title ${JSON.stringify(title).slice(0, 40)} is refused`, () => {
    assert.deepEqual(parseCreateTodo({ ...good, title }), { errors: { title: sentences } });
  });
}

for (const text of ['1', '1.0', '1e0', '2147483647']) {
  test(`B9 · the categoryId ${text} is accepted`, () => {
    const categoryId = Number(text);
    assert.deepEqual(parseCreateTodo(JSON.parse(`{"title":"x","categoryId":${text}}`)), {
      value: { title: 'x', categoryId },
    });
  });
}

for (const categoryId of [0, -1, 1.5, 2147483648, Number.POSITIVE_INFINITY, '1', null, true, [1]]) {
  test(`B9 · the categoryId ${String(JSON.stringify(categoryId))} is refused`, () => {
    const errors = { categoryId: ['categoryId must be an integer from 1 to 2147483647.'] };
    assert.deepEqual(parseCreateTodo({ ...good, categoryId }), { errors });
  });
}

test('B12 · all failing members are named at once, in the order of the schema, and no others', () => {
  const parsed = parseReplaceTodo({ categoryId: 0, done: 'yes', title: '' });
  assert.deepEqual(Object.keys('errors' in parsed ? parsed.errors : {}), ['title', 'done', 'categoryId']);
  assert.deepEqual(parseReplaceTodo({ title: 'x', categoryId: 1, done: null }), {
    errors: { done: ['done must be true or false.'] },
  });
});

test('B12 · missing members are required', () => {
  assert.deepEqual(parseCreateTodo({}), {
    errors: { title: ['title is required.'], categoryId: ['categoryId is required.'] },
  });
});

test('B8 · a member in another letter case is named where the right one is missing', () => {
  const parsed = parseCreateTodo({ Title: 'Buy milk', categoryId: 1 });
  const sentence = 'title is required; "Title" was sent, but member names are case-sensitive.';
  assert.deepEqual(parsed, { errors: { title: [sentence] } });
});

test('B8 · a member in another letter case beside the right one is unknown, and ignored', () => {
  assert.deepEqual(parseCreateTodo({ ...good, TITLE: '' }), { value: good });
});

test('B6 · unknown members are left behind, __proto__ and constructor among them', () => {
  const body = JSON.parse('{"__proto__":{"done":true},"constructor":1,"id":7,"done":true,"role":"editor"}');
  assert.deepEqual(parseCreateTodo(Object.assign(body, good)), { value: good });
});

test('B6 · a member that only stands inside __proto__ is missing', () => {
  const parsed = parseCreateTodo(JSON.parse('{"__proto__":{"title":"x"},"categoryId":1}'));
  assert.deepEqual(parsed, { errors: { title: ['title is required.'] } });
});

for (const [done, stored] of [
  [undefined, false],
  [false, false],
  [true, true],
]) {
  test(`B11 · done ${done} is stored as ${stored}`, () => {
    const body = done === undefined ? good : { ...good, done };
    assert.deepEqual(parseReplaceTodo(body), { value: { ...good, done: stored } });
  });
}
