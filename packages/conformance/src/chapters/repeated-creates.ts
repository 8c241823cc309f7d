import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { header, json, type Reply } from '../http.ts';
import { assertBody, assertProblem, it } from '../problem.ts';
import type { Sign } from '../sign.ts';
import { expecting, listTodos, milk, readTodo, type SharedList, send, type Todo } from '../target.ts';

const MILK = { title: 'Buy milk', categoryId: 2 };

/** Spellings of a malformed key. */
const MALFORMED = [
  ...['', '""', '"a', 'a"', 'a b', 'a,b'],
  ...['"a,b"', '"a\\"b"', '"a"; b=1', '"a";b', 'a'.repeat(129)],
];

/** `POST /todos` with `Idempotency-Key` (contract I1 to I6). Each todo of this chapter is made once. */
export function repeatedCreates(target: SharedList): void {
  const create = (key: string | readonly string[], body: unknown = MILK) => createWith(target, key, { body });

  it('the first use of a key is answered as without [I1]', async () => {
    const reply = await create(randomUUID());
    const { id } = json(reply) as Todo;
    assertBody(reply, 201, milk(id, { categoryId: 2 }));
    const read = await send(target, `GET /todos/${id}`, { token: target.tokens.reader });
    assert.equal(header(reply, 'location'), `/todos/${id}`);
    assert.equal(header(reply, 'etag'), header(read, 'etag'));
    assert.deepEqual(read.body, reply.body);
  });

  it('the same again makes nothing and is answered with the todo as it was made, changed or deleted [I2]', async () => {
    const key = randomUUID();
    const first = await create(key);
    const { id } = json(first) as Todo;
    assertSame(await create(key), first);
    const changed = { title: 'Buy bread', done: true, categoryId: 1 };
    await send(target, `PUT /todos/${id}`, { token: target.tokens.editor, json: changed });
    assertSame(await create(key), first);
    assert.deepEqual(await readTodo(target, id), { id, ...changed });
    await send(target, `DELETE /todos/${id}`, { token: target.tokens.editor });
    assertSame(await create(key), first);
    assert.equal(await readTodo(target, id), undefined);
  });

  it('of several at the same time one makes the todo, and all are answered with it [I3]', async () => {
    const key = randomUUID();
    const createInTheEnd = async (): Promise<Reply> => {
      const reply = await create(key);
      if (reply.status !== 409) return reply;
      // The first takes longer than the others wait.
      assertProblem(reply, 409, { title: 'Request In Progress', headers: { 'retry-after': '1' } });
      return createInTheEnd();
    };
    const replies = await Promise.all(Array.from({ length: 12 }, createInTheEnd));
    const [first] = replies;
    assert.ok(first);
    for (const reply of replies) assertSame(reply, first);
  });

  it('another title or category is a 422, and nothing is made [I4]', async () => {
    const key = randomUUID();
    const title = `Buy milk ${key}`;
    const body = { ...MILK, title };
    const first = await create(key, body);
    for (const other of [{ title: 'Buy Milk' }, { categoryId: 1 }, { categoryId: 2147483647 }]) {
      const reply = await create(key, { ...body, ...other });
      assertProblem(reply, 422, { title: 'Idempotency Key Reused', headers: { location: undefined } });
    }
    assertSame(await create(key, body), first);
    assert.equal((await listTodos(target)).filter((todo) => todo.title === title).length, 1);
  });

  it('bodies are compared as they are parsed [I4]', async () => {
    const key = randomUUID();
    const first = await create(key);
    assertSame(await create(key, { done: true, categoryId: 2, title: 'Buy milk' }), first);
    const spelled = '{ "title": "Buy\\u0020milk", "categoryId": 2.0 }';
    assertSame(await createWith(target, key, { text: spelled }), first);
  });

  it('a key is the same bare and in double quotes, and may have any allowed character [I5]', async () => {
    const allowed = "!#$%&'()*+-./0123456789:;<=>?@ABCXYZ[]^_`abcxyz{|}~";
    for (const key of [randomUUID(), randomUUID().padEnd(128, 'x'), `${randomUUID()}${allowed}`]) {
      assertSame(await create(`"${key}"`), await create(key));
    }
  });

  it('a malformed key, and one on two lines, is a 400 and makes nothing [I5]', async () => {
    const title = `Never made ${randomUUID()}`;
    for (const key of [...MALFORMED, ['a', 'a'], ['"a"', '"b"']]) {
      const reply = await create(key, { ...MILK, title });
      assertProblem(reply, 400, { detail: 'any', headers: { location: undefined } });
    }
    assert.ok((await listTodos(target)).every((todo) => todo.title !== title));
  });

  it('a key of a request that was refused is free [I6]', async () => {
    const key = randomUUID();
    const refused = { ...MILK, categoryId: 2147483647 };
    for (let times = 0; times < 2; times += 1) {
      assertProblem(await create(key, refused), 400, { title: 'Category not found' });
    }
    assertProblem(await create(key, { title: '' }), 400, { errors: ['title', 'categoryId'] });
    assert.equal((await create(key)).status, 201);
  });

  it('a broken rule comes before a malformed key, and a malformed key before a missing category [Order 4]', async () => {
    assertProblem(await create('"', { ...MILK, title: '' }), 400, { errors: ['title'] });
    assertProblem(await create('"', { ...MILK, categoryId: 2147483647 }), 400, { detail: 'any' });
  });

  it('a key used before comes before a missing category [Order 5]', async () => {
    const key = randomUUID();
    await create(key);
    const reply = await create(key, { ...MILK, categoryId: 2147483647 });
    assertProblem(reply, 422, { title: 'Idempotency Key Reused' });
  });
}

/** The callers that keys belong to, with tokens made at will. */
export function repeatingCallers(target: SharedList, sign: Sign): void {
  const { succeeds } = expecting(target);
  it('the same key of another caller is another one [I1]', async () => {
    const key = randomUUID();
    const ids = new Set<number>();
    for (const sub of ['ada', 'bob', 'Ada']) {
      const first = await createWith(target, key, { token: sign({ sub, role: 'editor' }) });
      ids.add((json(first) as Todo).id);
      // Another token of the same caller.
      const again = sign({ sub, role: 'editor', name: 'another name' });
      assertSame(await createWith(target, key, { token: again }), first);
    }
    assert.equal(ids.size, 3);
  });

  it('a key with a token that has no sub is a 400; without the key, the token is enough [I5]', async () => {
    for (const sub of [undefined, null, 7]) {
      const token = sign({ sub, role: 'editor' });
      assertProblem(await createWith(target, randomUUID(), { token }), 400, { detail: 'any' });
      await succeeds(201, 'POST /todos', { token, json: MILK });
    }
  });
}

interface Wanted {
  readonly token?: string;
  readonly body?: unknown;
  /** Instead of `body`, exactly. */
  readonly text?: string;
}

function createWith(target: SharedList, key: string | readonly string[], wanted: Wanted): Promise<Reply> {
  const { token = target.tokens.editor, body = MILK, text = JSON.stringify(body) } = wanted;
  return send(target, 'POST /todos', { token, body: text, headers: { 'Idempotency-Key': key } });
}

/** Checks that a reply repeats the first 201: the same todo, place and tag. */
function assertSame(reply: Reply, first: Reply): void {
  assert.equal(reply.status, 201, reply.body.toString());
  assert.equal(reply.body.toString(), first.body.toString());
  for (const name of ['location', 'etag', 'content-type', 'cache-control']) {
    assert.equal(header(reply, name), header(first, name), name);
  }
}
