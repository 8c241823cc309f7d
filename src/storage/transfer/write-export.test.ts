import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { checkWritten, type ExportSource, notEmpty, PART_SIZE } from './contents.ts';
import { readExport } from './read-export.ts';
import { exportParts, rowFaults } from './write-export.ts';

const KEYS = ['A', 'B'].map((letter) => ({
  key: letter.repeat(43),
  body: 'b'.repeat(43),
  todoId: 3,
  at: 1_795_339_800,
}));
const TODOS = [3, 5].map((id) => ({ id, title: 'a', done: id === 5, categoryId: 1 }));

/** What is exported one row at a time, and the calls that it has got. */
function sourceOf(calls: unknown[]): ExportSource {
  return {
    counts: { categories: 1, todos: 2, keys: 2 },
    highestId: 9,
    async *parts(kind) {
      for (const row of { categories: [{ id: 1, name: 'Work' }], todos: TODOS, keys: KEYS }[kind])
        yield [row];
      calls.push(kind);
    },
    async check() {
      calls.push('check');
    },
    async [Symbol.asyncDispose]() {},
  };
}

test('an export has a line for itself, each category, each todo and each key, and one that seals them [E1]', async () => {
  const calls: unknown[] = [];
  const parts = await Array.fromAsync(exportParts(sourceOf(calls)));
  const lines = [
    '{"format":"todo-service-export","version":1,"highestId":9,"categories":1,"todos":2,"keys":2}\n',
    '{"id":1,"name":"Work"}\n',
    '{"id":3,"title":"a","done":false,"categoryId":1}\n',
    '{"id":5,"title":"a","done":true,"categoryId":1}\n',
    ...KEYS.map(
      ({ key, body }) => `{"key":"${key}","body":"${body}","todoId":3,"at":"2026-11-22T09:30:00Z"}\n`,
    ),
  ];
  const sha256 = createHash('sha256').update(lines.join('')).digest('hex');
  assert.equal(parts.map(({ text }) => text).join(''), `${lines.join('')}{"sha256":"${sha256}"}\n`);
  assert.deepEqual(
    parts.map(({ todos }) => todos),
    [0, 0, 1, 2, 2, 2, 2],
  );
  assert.deepEqual(calls, ['categories', 'todos', 'keys', 'check']);
});

test('an export whose parts are not of one moment has no last line', async () => {
  const source = {
    ...sourceOf([]),
    check: async () => {
      throw new Error('changed');
    },
  };
  const texts: string[] = [];
  await assert.rejects(async () => {
    for await (const { text } of exportParts(source)) texts.push(text);
  }, /changed/);
  assert.equal(texts.join('').includes('sha256'), false);
});

test('from a row on that breaks a rule no part is given, and a todo of such a category is no fault [E1]', async () => {
  const rows = {
    categories: [{ id: 1, name: '' }],
    todos: [...TODOS, { id: 6, title: '', done: false, categoryId: 1 }],
    keys: KEYS,
  };
  const source: ExportSource = {
    ...sourceOf([]),
    counts: { categories: 1, todos: 3, keys: 2 },
    async *parts(kind) {
      yield rows[kind];
    },
  };
  const texts: string[] = [];
  const refused = (async () => {
    for await (const { text } of exportParts(source)) texts.push(text);
  })();
  await assert.rejects(refused, {
    name: 'RowsRefused',
    faults: [
      'row 1 of categories: "name" must be 1 to 100 characters on one line, without white space around them',
      'row 6 of todos: "title" must not be empty or only white space',
    ],
  });
  assert.equal(texts.length, 1);
});

test('rows that keep the rules have no faults, and a source that fails is no fault of them [E1]', async () => {
  assert.deepEqual(await rowFaults(sourceOf([])), []);
  const failing = { ...sourceOf([]), check: () => Promise.reject(new Error('changed')) };
  await assert.rejects(rowFaults(failing), { name: 'Error', message: 'changed' });
});

test('rows that are counted and cannot be read by their id are a fault [E1]', async () => {
  const source = { ...sourceOf([]), counts: { categories: 1, todos: 3, keys: 4 } };
  assert.deepEqual(await rowFaults(source), [
    'rows of todos have no id of their own',
    'rows of idempotency_keys have no id of their own',
  ]);
});

test('a highest id that is out of range is a fault beside those of rows [E1]', async () => {
  const source: ExportSource = {
    ...sourceOf([]),
    counts: { categories: 0, todos: 1, keys: 0 },
    highestId: 2_147_483_648,
    async *parts(kind) {
      if (kind === 'todos') yield [{ id: 2_147_483_648, title: 'a', done: false, categoryId: 1 }];
    },
  };
  assert.deepEqual(await rowFaults(source), [
    'row 2147483648 of todos: "id" must be an integer from 1 to 2147483647',
    'the highest id that was given out must be at most 2147483647, received 2147483648',
  ]);
  assert.deepEqual(await rowFaults({ ...sourceOf([]), highestId: 2_147_483_647 }), []);
});

test('keys that are out of order, or of a todo above the highest id, are faults [E1]', async () => {
  const source: ExportSource = {
    ...sourceOf([]),
    counts: { categories: 0, todos: 0, keys: 3 },
    async *parts(kind) {
      if (kind === 'keys') yield [...KEYS.toReversed(), { ...KEYS[0], key: 'C'.repeat(43), todoId: 10 }];
    },
  };
  assert.deepEqual(await rowFaults(source), [
    `row "${'A'.repeat(43)}" of idempotency_keys: "key" must come after that of the line before, in the order of ASCII`,
    `row "${'C'.repeat(43)}" of idempotency_keys: "todo_id" must be at most 9, the "highestId" of line 1, received 10`,
  ]);
});

test('of an id that is a text the first 50 characters are shown [E1]', async () => {
  const source: ExportSource = {
    ...sourceOf([]),
    counts: { categories: 0, todos: 0, keys: 1 },
    async *parts(kind) {
      if (kind === 'keys') yield [{ key: 'k'.repeat(51), body: 'b', todoId: 1, at: 1 }];
    },
  };
  assert.deepEqual(await rowFaults(source), [
    `row "${'k'.repeat(50)}" of idempotency_keys: "key" must be a SHA-256 in base64url, 43 characters`,
  ]);
});

test('an export is read and handed on in parts of at most 2,048 rows', async () => {
  const many = Array.from({ length: 2_049 }, (_, index) => index + 1);
  const source: ExportSource = {
    ...sourceOf([]),
    counts: { categories: many.length, todos: many.length, keys: many.length },
    highestId: many.length,
    async *parts(kind) {
      yield many.map((id) => {
        if (kind === 'categories') return { id, name: `c${id}` };
        if (kind === 'todos') return { id, title: 'a', done: false, categoryId: id };
        return { key: `${id}`.padStart(43, '0'), body: 'b'.repeat(43), todoId: id, at: 1 };
      });
    },
  };
  async function* bytes() {
    for await (const { text } of exportParts(source)) yield Buffer.from(text);
  }
  const sizes: number[] = [];
  const contents = await readExport(bytes(), async ({ categories, todos, keys }) => {
    sizes.push(categories.length + todos.length + keys.length);
  });
  assert.deepEqual(contents, { ...source.counts, highestId: many.length, highestCategoryId: many.length });
  assert.equal(PART_SIZE, 2_048);
  // Each full part of one kind begins with what the kind before has left.
  assert.deepEqual(sizes, [2_048, 2_049, 2_049, 1]);
});

test('a database that is not empty is refused with what it has, and what to do', () => {
  const { name, message } = notEmpty('it has todos');
  assert.equal(name, 'StoreUnavailable');
  assert.equal(
    message,
    'the database must be empty, and it has todos: make a new one, and set TODO_DATABASE to it',
  );
});

test('an import that wrote other rows than it read is refused with the table, both counts and the cause [E2]', () => {
  const read = { categories: 1, todos: 2, keys: 0 };
  checkWritten(read, read);
  assert.throws(() => checkWritten(read, { ...read, todos: 1 }), {
    name: 'StoreUnavailable',
    message:
      '"todos" must have 2 rows, received 1: a trigger or a rule that is not of this program leaves out or adds some. ' +
      '"todo-service check" names it',
  });
});
