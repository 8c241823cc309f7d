import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCreateTodo, parseReplaceTodo } from './bodies.ts';

const good = { title: 'Buy milk', categoryId: 1 };

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
