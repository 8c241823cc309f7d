import assert from 'node:assert/strict';
import { test } from 'node:test';
import { json } from '../http.ts';
import { assertProblem, byLaw, it } from '../problem.ts';
import { expecting, makeTodo, milk, readTodo, type SharedList, type Todo } from '../target.ts';

/** JSON texts that are no integer from 1 to 2147483647. */
const notCategoryIds = [
  ...['0', '-1', '-0', '2147483648', '1.5', '1e-1', '1e10', '1e400', '99999999999999999999'],
  ...['0.9999999999999999999', '1.00000000000000001', '2147483647.00000000001', '1e-400', '1e999999999'],
  ...['"1"', '""', 'null', 'true', '[1]', '{}'],
];

/** JSON texts that are no title. */
const notTitles = [
  ...['""', '" "', '"\\t\\n"', '"\\u00a0\\u3000"', 'null', '1', 'true', '["Buy milk"]', '{}'],
  ...['"a\\u0000b"', '"\\ud800"', '"\\udc00\\ud800"', '"a\\ud83d"'],
  JSON.stringify('a'.repeat(101)),
  JSON.stringify('😀'.repeat(101)),
  JSON.stringify(' '.repeat(101)),
];

/** Titles of 1 to 100 code points. */
const titles = [
  ...[
    'a',
    '0',
    ' a ',
    '\ta\n',
    'a'.repeat(100),
    '😀'.repeat(100),
    `${' '.repeat(99)}a`,
    'Café',
    'Cafe\u0301',
  ],
  ...[
    ...['買い物', 'مهمة', '👩‍👩‍👧', '\u{10ffff}', '\ufeffa', 'a\u2028\u2029', '\u007f\u0085a', '\u0001'],
    'null',
  ],
  ...['"\\/\b\f', "<script>&'</script>", "'; DROP TABLE todos; --", '%00', '{{a}}'],
];

/** The rules of `CreateTodo` and `ReplaceTodo`, member by member (contract B8 to B12; Limits). */
export function members(target: SharedList): void {
  const { fails, succeeds } = expecting(target);
  const { editor } = target.tokens;

  /** Sends a body to POST and to PUT of an existing todo: each must name exactly these members. */
  async function assertRefused(body: string, errors: readonly string[]): Promise<void> {
    const todo = await makeTodo(target);
    for (const line of ['POST /todos', `PUT /todos/${todo.id}`]) {
      const reply = await succeeds(400, line, { token: editor, body }, `${line} ${body}`);
      assertProblem(reply, 400, { title: 'One or more validation errors occurred.', errors });
    }
    assert.deepEqual(await readTodo(target, todo.id), todo);
  }

  /** Sends a body to POST and to PUT of an existing todo. Gives the todo that each of them stored. */
  async function store(body: string): Promise<Todo[]> {
    const made = await succeeds(201, 'POST /todos', { token: editor, body });
    const { id } = await makeTodo(target, 'Before');
    await succeeds(204, `PUT /todos/${id}`, { token: editor, body });
    const stored = [await readTodo(target, (json(made) as Todo).id), await readTodo(target, id)];
    return stored.filter((todo) => todo !== undefined);
  }

  it('a member in another letter case is missing, and the sentence says which was seen [B8]', async () => {
    await assertRefused('{"Title":"Buy milk","CATEGORYID":1}', ['title', 'categoryId']);
    const request = { token: editor, body: '{"Title":"a","CategoryID":1}' };
    const { errors } = await fails(400, 'POST /todos', request, { errors: ['title', 'categoryId'] });
    assert.match(String(errors?.title), /"?Title"?/);
    assert.match(String(errors?.categoryId), /"?CategoryID"?/);
  });

  it('a member in another letter case beside the right one is ignored like any unknown member [B8]', async () => {
    const todos = await store('{"Title":"","title":"Buy milk","categoryid":0,"categoryId":1,"Done":"x"}');
    for (const todo of todos) assert.deepEqual(todo, milk(todo.id));
  });

  it('a number with an integral value is an integer, however it is written [B9]', async () => {
    for (const number of ['1', '1.0', '1e0', '1E+0', '10e-1', '0.1e1', '1.00000000000000000000']) {
      const todos = await store(`{"title":"Buy milk","categoryId":${number}}`);
      assert.deepEqual(
        todos.map(({ categoryId }) => categoryId),
        [1, 1],
        number,
      );
    }
  });

  test('a categoryId that is missing, or no integer from 1 to 2147483647, is a validation failure [Limits; B9]', async () => {
    await assertRefused('{"title":"Buy milk"}', ['categoryId']);
    for (const value of byLaw(notCategoryIds, ['0', '-1', '2147483648'])) {
      await assertRefused(`{"title":"Buy milk","categoryId":${value}}`, ['categoryId']);
    }
  });

  test('2147483647 is a valid categoryId, which happens to name no category [Limits]', async () => {
    const body = '{"title":"Buy milk","categoryId":2147483647}';
    await fails(400, 'POST /todos', { token: editor, body }, { title: 'Category not found' });
  });

  test('a title that is empty, missing, white, too long, ill-formed or no string is a validation failure [Resources, CreateTodo; Errors, 400; Limits; B10]', async () => {
    await assertRefused('{"categoryId":1}', ['title']);
    for (const title of byLaw(notTitles, ['""', JSON.stringify('a'.repeat(101))])) {
      await assertRefused(`{"title":${title},"categoryId":1}`, ['title']);
    }
  });

  test('a title of 1 to 100 code points is stored and returned exactly as sent [Limits; B10]', async () => {
    for (const title of byLaw(titles, ['a', 'a'.repeat(100), 'Käse kaufen'])) {
      const escaped = JSON.stringify(title).replace(/[^ -~]/g, (unit) => {
        return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
      });
      for (const text of [JSON.stringify(title), escaped]) {
        const todos = await store(`{"title":${text},"categoryId":1}`);
        assert.deepEqual(
          todos.map((todo) => todo.title),
          [title, title],
        );
      }
    }
  });

  test('done replaces the stored value, and an omitted value is read as false [B11; Resources, ReplaceTodo]', async () => {
    const { id } = await makeTodo(target);
    const cases = [
      ['"done":true,', true],
      ['', false],
      ['"done":true,', true],
      ['"done":false,', false],
    ] as const;
    for (const [member, done] of cases) {
      const body = `{"title":"Buy milk",${member}"categoryId":1}`;
      await succeeds(204, `PUT /todos/${id}`, { token: editor, body });
      assert.deepEqual(await readTodo(target, id), { id, title: 'Buy milk', done, categoryId: 1 });
    }
  });

  it('a done that is no boolean is a validation failure [B11]', async () => {
    const todo = await makeTodo(target);
    for (const done of ['null', '0', '1', '"true"', '""', '[]', '{}']) {
      const body = `{"title":"Buy milk","done":${done},"categoryId":1}`;
      await fails(400, `PUT /todos/${todo.id}`, { token: editor, body }, { errors: ['done'] });
    }
    assert.deepEqual(await readTodo(target, todo.id), todo);
  });

  it('all failing members are named at once, and no others [B12]', async () => {
    await assertRefused('{}', ['title', 'categoryId']);
    await assertRefused('{"title":"","categoryId":0}', ['title', 'categoryId']);
    await assertRefused('{"title":"Buy milk"}', ['categoryId']);
    await assertRefused('{"categoryId":1}', ['title']);
    const { id } = await makeTodo(target);
    await fails(
      400,
      `PUT /todos/${id}`,
      { token: editor, body: '{"done":1,"id":"x"}' },
      { errors: ['title', 'done', 'categoryId'] },
    );
  });

  it('a validation failure comes before the missing category [B12]', async () => {
    await assertRefused('{"title":"","categoryId":2147483647}', ['title']);
  });
}
