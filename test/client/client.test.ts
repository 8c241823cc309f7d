import assert from 'node:assert/strict';
import { after, beforeEach, mock, test } from 'node:test';
import {
  type ClientOptions,
  createTodoClient,
  TodoError,
  TodoProblem,
} from '../../packages/client/src/client.ts';
import { startList } from '../support/list.ts';
import { startService } from '../support/start.ts';
import { todo } from '../support/todo.ts';
import { startProxy } from './proxy.ts';

const MILK = { title: 'Buy milk', categoryId: 1 };
const UNAVAILABLE = JSON.stringify({
  type: 'https://tools.ietf.org/html/rfc9110#section-15.6.4',
  title: 'Service Unavailable',
  status: 503,
});
const PROBLEM = { 'content-type': 'application/problem+json' };
const NOW = { ...PROBLEM, 'retry-after': '0' };

const service = await startList();
after(() => service[Symbol.asyncDispose]());
const proxy = await startProxy(service.url);
after(() => proxy[Symbol.asyncDispose]());

const clientWith = (options: Partial<ClientOptions> = {}) =>
  createTodoClient({ baseUrl: proxy.url, token: service.editor, ...options });

/** The requests since the test began. */
let seenBefore = 0;
beforeEach(() => {
  seenBefore = proxy.seen.length;
  proxy.fates.length = 0;
});
const lines = () => proxy.seen.slice(seenBefore).map(({ line }) => line);

test('a todo is created, read, replaced and removed', async () => {
  const client = clientWith();
  const { todo, etag } = await client.create(MILK);
  assert.deepEqual(todo, { id: todo.id, title: 'Buy milk', done: false, categoryId: 1 });
  assert.deepEqual(await client.get(todo.id), { todo, etag });
  await client.replace(todo.id, { ...MILK, done: true });
  assert.equal((await client.get(todo.id)).todo.done, true);
  assert.ok((await client.list()).todos.some(({ id }) => id === todo.id));
  await client.remove(todo.id);
  assert.equal((await errorOf(client.get(todo.id))).status, 404);
});

test('a base URL may end in a slash and have white space around it, and the name of the identity is read', async () => {
  assert.deepEqual(await clientWith({ baseUrl: `${proxy.url}/` }).me(), { name: 'ada' });
  assert.deepEqual(await clientWith({ baseUrl: ` ${proxy.url} ` }).me(), { name: 'ada' });
});

test('what was read is handed back on a 304, and read anew when it has changed', async () => {
  const client = clientWith();
  const { todo } = await client.create(MILK);
  const path = `/todos/${todo.id}`;
  const first = await client.get(todo.id);
  const list = await client.list();
  assert.equal((await client.get(todo.id)).todo, first.todo);
  assert.equal((await client.list()).todos, list.todos);
  await client.replace(todo.id, { ...MILK, title: 'Buy bread' });
  assert.equal((await client.get(todo.id)).todo.title, 'Buy bread');
  assert.ok((await client.list()).todos.some(({ title }) => title === 'Buy bread'));
  const reads = lines().filter((line) => line.startsWith('GET'));
  assert.deepEqual(reads, [
    ...[`GET ${path} 200`, 'GET /todos 200', `GET ${path} 304`, 'GET /todos 304'],
    ...[`GET ${path} 200`, 'GET /todos 200'],
  ]);
});

test('what a call hands out is frozen to its depth, and an unchanged list stays the same object', async () => {
  await using demo = await startService({ profile: 'error-demo' });
  const client = clientWith();
  const { todo } = await client.create(MILK);
  const list = await client.list();
  const answers: unknown[] = [
    todo,
    (await client.get(todo.id)).todo,
    list.todos,
    list.todos[0],
    await client.me(),
  ];
  answers.push(await createTodoClient({ baseUrl: demo.baseUrl }).complete(1));
  for (const answer of answers) assert.ok(Object.isFrozen(answer), JSON.stringify(answer));
  assert.throws(() => Object.assign(list.todos[0] ?? {}, { title: 'x' }), TypeError);
  assert.throws(() => (list.todos as unknown[]).push(todo), TypeError);
  assert.equal((await client.list()).todos, list.todos);
  const later = JSON.stringify([{ ...todo, labels: [{ name: 'home' }] }]);
  proxy.fates.push({ status: 200, body: later });
  const [{ labels } = { labels: [{}] }] = (await client.list()).todos as unknown as { labels: object[] }[];
  assert.ok(Object.isFrozen(labels) && Object.isFrozen(labels[0]));
});

test('of a thousand representations the one read longest ago is forgotten first', async () => {
  const { todo } = await clientWith().create(MILK);
  const client = clientWith();
  await client.get(todo.id);
  const body = JSON.stringify(todo);
  const headers = { 'content-type': 'application/json', etag: '"x"' };
  for (let id = 1; id <= 1_000; id += 1) {
    proxy.fates.push({ status: 200, headers, body });
    await client.get(1_000_000 + id);
  }
  await client.get(todo.id);
  assert.equal(lines().at(-1), `GET /todos/${todo.id} 200`);
  proxy.fates.push({ status: 304, headers });
  assert.deepEqual((await client.get(1_001_000)).todo, todo);
});

test('a change with the tag of an older state is refused, and nothing happens', async () => {
  const client = clientWith();
  const { todo, etag } = await client.create(MILK);
  await client.replace(todo.id, { ...MILK, title: 'Buy bread' }, { ifMatch: etag });
  const replaced = await errorOf(client.replace(todo.id, MILK, { ifMatch: etag }));
  assert.equal(replaced.status, 412);
  assert.equal((await errorOf(client.remove(todo.id, { ifMatch: etag }))).status, 412);
  assert.equal((await client.get(todo.id)).todo.title, 'Buy bread');
});

test('the tag of the list guards no change of a todo, which does not compile, and is a 412', async () => {
  const client = clientWith();
  const { todo } = await client.create(MILK);
  const { etag } = await client.list();
  // @ts-expect-error it is no tag of a todo
  assert.equal((await errorOf(client.replace(todo.id, MILK, { ifMatch: etag }))).status, 412);
  // @ts-expect-error it is no tag of a todo
  assert.equal((await errorOf(client.remove(todo.id, { ifMatch: etag }))).status, 412);
  const own: string = (await client.get(todo.id)).etag ?? '';
  await client.remove(todo.id, { ifMatch: own });
});

test('a validation failure is a TodoProblem with what is wrong with each member', async () => {
  const error = await errorOf(clientWith().create({ title: '', categoryId: 0 }));
  assert.ok(error instanceof TodoProblem);
  assert.equal(error.name, 'TodoProblem');
  assert.equal(error.status, 400);
  assert.equal(error.title, 'One or more validation errors occurred.');
  assert.deepEqual(Object.keys(error.errors ?? {}), ['title', 'categoryId']);
  assert.match(error.traceId ?? '', /^00-[0-9a-f]{32}-/);
  assert.equal(error.outcomeUnknown, false);
});

/** A client whose tokens these are, in order; the last comes again. */
function renewing(...tokens: string[]) {
  const asked: boolean[] = [];
  const token = ({ refused }: { readonly refused: boolean }) => {
    asked.push(refused);
    return (tokens.length > 1 ? tokens.shift() : tokens[0]) ?? '';
  };
  return { asked, client: clientWith({ token, retries: 0 }) };
}

test('after a 401 a request is repeated once, with a token in place of the refused one', async () => {
  const { asked, client } = renewing('a.b.c', service.editor);
  await client.create(MILK);
  await client.list();
  assert.deepEqual(asked, [false, true, false]);
  assert.deepEqual(lines(), ['POST /todos 401', 'POST /todos 201', 'GET /todos 200']);
});

test('a second 401 is told, and a token that is a string is not tried twice', async () => {
  const { asked, client } = renewing('a.b.c');
  const refused = await errorOf(client.list());
  assert.ok(refused instanceof TodoProblem);
  assert.equal(refused.type, 'https://tools.ietf.org/html/rfc9110#section-15.5.2');
  assert.equal(refused.title, 'Unauthorized');
  assert.deepEqual(asked, [false, true]);
  assert.equal((await errorOf(clientWith({ token: 'a.b.c' }).list())).status, 401);
  assert.equal(lines().length, 3);
});

test('however many calls wait for a token, one is asked for, and one in its place', async () => {
  const asked: [refused: boolean, give: (token: string) => void][] = [];
  const client = clientWith({
    token: ({ refused }) => new Promise((resolve) => asked.push([refused, resolve])),
  });
  const calls = [client.list(), client.me(), client.create(MILK)];
  const give = async (token: string, times: number, seen: number) => {
    // The proxy has seen an answer before its client has.
    while (asked.length < times || lines().length < seen) await new Promise(setImmediate);
    asked.at(-1)?.[1](token);
  };
  await give('a.b.c', 1, 0);
  await give(service.editor, 2, 3);
  await Promise.all(calls);
  assert.deepEqual(
    asked.map(([refused]) => refused),
    [false, true],
  );
});

test('a 401 to an older token is repeated with the newest, and nobody is asked for another', async () => {
  const { asked, client } = renewing('a.b.c', service.editor);
  const older = client.list();
  await new Promise(setImmediate);
  await Promise.all([older, client.me()]);
  assert.deepEqual(asked, [false, false]);
});

for (const nothing of [undefined, null, '', ' \t\n', '\u00a0']) {
  for (const [how, token] of [
    ['', () => nothing],
    ['a promise of ', () => Promise.resolve(nothing)],
  ] as const) {
    test(`a function that gives ${how}${JSON.stringify(nothing)} for a token: nobody is logged in, and nothing is sent`, async () => {
      const client = clientWith({ token });
      const calls = [client.list(), client.me(), client.create(MILK, { idempotencyKey: true })];
      for (const error of await Promise.all(calls.map(errorOf))) {
        assert.ok(!(error instanceof TodoProblem));
        assert.equal(error.message, 'Nobody is logged in: there is no token');
        assert.deepEqual([error.status, error.outcomeUnknown], [undefined, false]);
      }
      assert.deepEqual(lines(), []);
    });
  }
}

test('an empty token in place of a function is that of nobody too', async () => {
  assert.equal(
    (await errorOf(clientWith({ token: '' }).list())).message,
    'Nobody is logged in: there is no token',
  );
  assert.deepEqual(lines(), []);
});

for (const value of [7, false, { access_token: 'a.b.c' }, ['a.b.c']]) {
  test(`the token ${JSON.stringify(value)} is no string, and nothing is sent`, async () => {
    const message = `The token must be a string, received the type ${typeof value}`;
    for (const given of [value, () => value, async () => value])
      await assert.rejects(clientWith({ token: given as never }).list(), { name: 'TypeError', message });
    assert.deepEqual(lines(), []);
  });
}

for (const [how, token] of [
  [
    'throws',
    () => {
      throw new RangeError('The session is over');
    },
  ],
  ['rejects', () => Promise.reject(new RangeError('The session is over'))],
] as const) {
  test(`a function that ${how} for a token ends every call that waits for it with its own error`, async () => {
    const client = clientWith({ token });
    const own = { name: 'RangeError', message: 'The session is over' };
    await Promise.all([client.list(), client.create(MILK)].map((call) => assert.rejects(call, own)));
    assert.deepEqual(lines(), []);
  });
}

test('a token that there is not yet is asked for again by the next call', async () => {
  const tokens = [undefined, service.editor];
  const client = clientWith({ token: () => tokens.shift() });
  await errorOf(client.list());
  await client.list();
  assert.deepEqual(lines(), ['GET /todos 200']);
});

for (const [how, renew] of [
  ['gives none', () => undefined],
  ['gives one that cannot be sent', () => 'secret\ntoken'],
  ['rejects', () => Promise.reject(new Error('offline'))],
] as const) {
  test(`where a renewal ${how}, the 401 is the error of all calls that wait for it, and it is asked for once`, async () => {
    const asked: boolean[] = [];
    const client = clientWith({
      async token({ refused }) {
        asked.push(refused);
        // Until all three have their 401.
        while (refused && lines().length < 3) await new Promise(setImmediate);
        await new Promise(setImmediate);
        return refused ? renew() : 'a.b.c';
      },
    });
    const calls = [client.list(), client.me(), client.create(MILK)];
    for (const error of await Promise.all(calls.map(errorOf))) {
      assert.ok(error instanceof TodoProblem);
      assert.equal(error.message, '401 Unauthorized: The token is not a signed token in compact form');
    }
    assert.deepEqual(asked, [false, true]);
    assert.equal(lines().length, 3);
  });
}

test('a 401 asks for another token, also when a call that began meanwhile could not have one', async ({
  mock,
}) => {
  const answer = Promise.withResolvers<Response>();
  const fetched = mock.method(globalThis, 'fetch', () => answer.promise);
  const plain = Promise.withResolvers<string>();
  const asked: boolean[] = [];
  const client = clientWith({
    token({ refused }) {
      asked.push(refused);
      return refused ? 'new' : asked.length === 1 ? 'old' : plain.promise;
    },
  });
  const first = client.me();
  while (fetched.mock.callCount() === 0) await new Promise(setImmediate);
  const other = assert.rejects(client.me(), /offline/);
  answer.resolve(new Response(null, { status: 401 }));
  // The first call waits for the token of the other one.
  await new Promise(setImmediate);
  fetched.mock.mockImplementation(async () => Response.json({ name: 'ada' }));
  plain.reject(new Error('offline'));
  await other;
  assert.deepEqual(await first, { name: 'ada' });
  assert.deepEqual(asked, [false, false, true]);
});

test('a token that cannot be had for a repeat leaves what is known of the attempt before', async () => {
  for (const again of [() => undefined, () => Promise.reject(new Error('offline'))]) {
    proxy.fates.push('cut after');
    const tokens = [() => service.editor, again];
    const client = clientWith({ token: () => tokens.shift()?.() });
    const error = await errorOf(client.create(MILK, { idempotencyKey: true }));
    assert.deepEqual([error.message, error.outcomeUnknown], ['POST /todos got no answer', true]);
  }
});

test('a 401 asks for another token, whenever another call begins meanwhile', async ({ mock }) => {
  const fetched = mock.method(globalThis, 'fetch');
  for (let turns = 0; turns < 30; turns += 1) {
    let token = 'old';
    const client = clientWith({ token: ({ refused }) => (token = refused ? 'new' : token) });
    const other = Promise.withResolvers<unknown>();
    fetched.mock.mockImplementation(async (_, sent) => {
      if (new Headers(sent?.headers).get('authorization') === 'Bearer new')
        return Response.json({ name: null });
      let left = turns;
      const begin = () => (left-- > 0 ? queueMicrotask(begin) : other.resolve(client.me()));
      if (fetched.mock.callCount() === 0) begin();
      return new Response(null, { status: 401 });
    });
    fetched.mock.resetCalls();
    await Promise.all([client.me(), other.promise]);
  }
});

for (const [when, leave] of [
  ['at once', async () => {}],
  ['later', () => new Promise(setImmediate)],
] as const) {
  test(`a token that never comes is asked for again when all calls that waited for it were aborted · ${when}`, async () => {
    let asked = 0;
    const client = clientWith({
      token: () => {
        asked += 1;
        return asked === 1 ? new Promise<string>(() => {}) : service.editor;
      },
    });
    const controllers = [new AbortController(), new AbortController()];
    const left = controllers.map(({ signal }) => assert.rejects(client.list({ signal })));
    for (const controller of controllers) {
      await leave();
      assert.equal(asked, 1);
      controller.abort();
    }
    await client.list();
    assert.equal(asked, 2);
    await Promise.all(left);
  });
}

test('an aborted call asks for no token', async () => {
  const signal = AbortSignal.abort(new Error('The page was left'));
  const asked = mock.fn(() => service.editor);
  await assert.rejects(clientWith({ token: asked }).list({ signal }), /The page was left/);
  assert.equal(asked.mock.callCount(), 0);
});

test('an abort ends the wait of one call for a token, and a token that could not be had is asked for again', async () => {
  const asked: PromiseWithResolvers<string>[] = [];
  const client = clientWith({
    token: () => {
      asked.push(Promise.withResolvers());
      return asked.at(-1)?.promise ?? '';
    },
  });
  const controller = new AbortController();
  const left = client.list({ signal: controller.signal });
  const stayed = client.list();
  controller.abort(new Error('The page was left'));
  await assert.rejects(left, /The page was left/);
  for (const one of asked) one.reject(new Error('offline'));
  await assert.rejects(stayed, /offline/);
  const later = client.list();
  asked.at(-1)?.resolve(service.editor);
  await later;
  assert.equal(asked.length, 2);
});

test('the error about a refused token says why it was refused', async () => {
  const refused = await errorOf(clientWith({ token: 'a.b' }).list());
  assert.ok(refused instanceof TodoProblem);
  assert.equal(refused.errorDescription, 'The token is not a signed token in compact form');
  assert.equal(refused.message, '401 Unauthorized: The token is not a signed token in compact form');
  const missing = await errorOf(createTodoClient({ baseUrl: proxy.url }).list());
  assert.ok(missing instanceof TodoProblem);
  assert.equal(missing.errorDescription, undefined);
  assert.equal(missing.message, '401 Unauthorized');
});

test('the todo of the error demo is completed once, without a token', async () => {
  await using demo = await startService({ profile: 'error-demo' });
  const client = createTodoClient({ baseUrl: demo.baseUrl });
  assert.equal((await client.complete(1)).done, true);
  const again = await errorOf(client.complete(1));
  assert.ok(again instanceof TodoProblem);
  assert.match(again.detail ?? '', /cannot be completed again/);
});

test('a read whose connection is cut is repeated', async () => {
  proxy.fates.push('cut before', 'cut after');
  await clientWith().list();
  assert.deepEqual(lines(), ['GET /todos 0', 'GET /todos 0', 'GET /todos 200']);
});

for (const fate of ['cut before', 'cut after'] as const) {
  test(`a change whose connection is ${fate} the service saw it is not repeated, and its outcome is unknown`, async () => {
    const client = clientWith();
    const { todo } = await client.create(MILK);
    for (const change of [
      () => client.create(MILK),
      () => client.replace(todo.id, MILK),
      () => client.remove(todo.id),
    ]) {
      const asked = proxy.seen.length;
      proxy.fates.push(fate);
      const error = await errorOf(change());
      assert.equal(error.outcomeUnknown, true);
      assert.equal(error.status, undefined);
      assert.ok(error.cause instanceof Error);
      assert.equal(proxy.seen.length, asked + 1);
    }
  });
}

test('a create with an idempotency key is repeated with the same key', async () => {
  for (const idempotencyKey of ['key-1', true] as const) {
    const before = proxy.seen.length;
    proxy.fates.push('cut before', { status: 503, headers: PROBLEM, body: UNAVAILABLE });
    await clientWith().create(MILK, { idempotencyKey });
    const keys = proxy.seen.slice(before).map(({ headers }) => headers['idempotency-key']);
    assert.equal(keys.length, 3);
    assert.equal(new Set(keys).size, 1);
    if (idempotencyKey === true) assert.match(String(keys[0]), /^[0-9a-f]{32}$/);
    else assert.equal(keys[0], 'key-1');
  }
});

test('a create with an idempotency key whose answer is lost is made once', async () => {
  const client = clientWith();
  const title = 'Made once';
  proxy.fates.push('cut after');
  const { todo, etag } = await client.create({ title, categoryId: 1 }, { idempotencyKey: true });
  assert.deepEqual(lines(), ['POST /todos 0', 'POST /todos 201']);
  assert.deepEqual(await client.get(todo.id), { todo, etag });
  const made = (await client.list()).todos.filter((one) => one.title === title);
  assert.deepEqual(made, [todo]);
});

test('a create without a key has no header of that name', async () => {
  await clientWith().create(MILK);
  assert.equal(proxy.seen.at(-1)?.headers['idempotency-key'], undefined);
});

test('a change is not repeated after a 503 that names no wait, or one that is no problem of the service', async () => {
  const wait = { 'retry-after': '0' };
  for (const headers of [PROBLEM, wait, { ...wait, 'content-type': 'text/html' }]) {
    const asked = proxy.seen.length;
    proxy.fates.push({ status: 503, headers, body: UNAVAILABLE });
    const error = await errorOf(clientWith().create(MILK));
    assert.equal(error.outcomeUnknown, true);
    assert.equal(proxy.seen.length, asked + 1);
  }
});

test('a wait is a number of seconds or a date, and one that is too long is not waited for', async () => {
  for (const after of ['61', new Date(Date.now() + 120_000).toUTCString()]) {
    proxy.fates.push({ status: 503, headers: { ...PROBLEM, 'retry-after': after }, body: UNAVAILABLE });
    const error = await errorOf(clientWith().list());
    assert.ok((error.retryAfterMs ?? 0) > 60_000 && (error.retryAfterMs ?? 0) <= 120_000);
  }
  assert.equal(lines().length, 2);
  proxy.fates.push({ status: 503, headers: { ...PROBLEM, 'retry-after': '61' }, body: UNAVAILABLE });
  assert.equal((await errorOf(clientWith({ maxWaitMs: 10 }).list())).status, 503);
});

for (const [form, after] of [
  ['IMF-fixdate', 'Sat, 06 Nov 2049 08:49:37 GMT'],
  ['RFC 850', 'Saturday, 06-Nov-49 08:49:37 GMT'],
  ['asctime', 'Sat Nov  6 08:49:37 2049'],
  ['white space behind it', 'Sat, 06 Nov 2049 08:49:37 GMT '],
] as const) {
  test(`a date in Retry-After is read in each form that HTTP has · ${form} (RFC 9110 §5.6.7)`, async () => {
    proxy.fates.push({ status: 503, headers: { ...PROBLEM, 'retry-after': after }, body: UNAVAILABLE });
    const { retryAfterMs = 0 } = await errorOf(clientWith().list());
    const late = Date.now() + retryAfterMs - Date.UTC(2049, 10, 6, 8, 49, 37);
    assert.ok(late >= 0 && late < 600_000, String(late));
    assert.equal(lines().length, 1);
  });
}

test('the page of a proxy is a TodoError with its status, after as many repeats as asked for', async () => {
  const page = { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad Gateway</h1>' };
  proxy.fates.push(page, page, page);
  const error = await errorOf(clientWith({ retries: 1 }).list());
  assert.ok(!(error instanceof TodoProblem));
  assert.equal(error.status, 502);
  assert.equal(error.message, '502 <h1>Bad Gateway</h1>');
  assert.equal(lines().length, 2);
  assert.equal(proxy.fates.length, 1);
});

for (const [name, answer] of [
  ['a page of HTML', { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Log in</h1>' }],
  ['half a problem', { status: 500, headers: PROBLEM, body: '{"title":' }],
] as const) {
  test(`${name} instead of an answer is a TodoError, and a create has an unknown outcome`, async () => {
    proxy.fates.push(answer);
    const error = await errorOf(clientWith().create(MILK));
    assert.ok(!(error instanceof TodoProblem));
    assert.equal(error.outcomeUnknown, true);
    proxy.fates.push(answer);
    assert.equal((await errorOf(clientWith({ retries: 0 }).list())).outcomeUnknown, false);
  });
}

test('a redirect is an error with its status, is not followed, and no read is repeated for it', async () => {
  const redirect = { status: 302, headers: { location: `${proxy.url}/me` } };
  proxy.fates.push(redirect, redirect);
  const read = await errorOf(clientWith().list());
  assert.equal(read.message, '302 is a redirect, which the service never gives');
  assert.equal(read.status, 302);
  assert.equal((await errorOf(clientWith().create(MILK))).outcomeUnknown, true);
  assert.equal(lines().length, 2);
});

test('in a page the base is a path, the browser sends the tags, and what has the tag of before is not parsed', async () => {
  Object.defineProperty(globalThis, 'location', { configurable: true, value: new URL(proxy.url) });
  const client = clientWith({ baseUrl: '/api' });
  Reflect.deleteProperty(globalThis, 'location');
  const headers = { 'content-type': 'application/json', etag: '"x"' };
  proxy.fates.push({ status: 200, headers, body: '[]' }, { status: 200, headers, body: '[' });
  const { todos } = await client.list();
  assert.equal((await client.list()).todos, todos);
  assert.deepEqual(lines(), ['GET /api/todos 200', 'GET /api/todos 200']);
  assert.equal(proxy.seen.at(-1)?.headers['if-none-match'], undefined);
});

/** The options of `fetch` for a list that is read meanwhile. */
async function optionsOf(read: () => Promise<unknown>): Promise<RequestInit> {
  const fetched = mock.method(globalThis, 'fetch');
  await read();
  fetched.mock.restore();
  return fetched.mock.calls.at(-1)?.arguments[1] ?? {};
}

test('cookies are left out, no cache answers, and no framework remembers a read', async () => {
  const { credentials, cache, signal } = await optionsOf(() => clientWith().list());
  assert.deepEqual([credentials, cache, signal?.aborted], ['omit', 'no-store', false]);
  const own = new AbortController().signal;
  assert.equal((await optionsOf(() => clientWith().list({ signal: own }))).signal, own);
  const mayCache = await optionsOf(() => clientWith({ cache: 'default' }).list());
  assert.ok(!('cache' in mayCache) && mayCache.signal !== undefined);
});

test('a page leaves caching to the browser, unless the client is told otherwise', async () => {
  using _page = replaced(globalThis, 'location', { value: new URL(proxy.url) });
  const client = clientWith();
  const sent = await optionsOf(() => client.list());
  assert.ok(!('cache' in sent) && !('signal' in sent));
  const uncached = clientWith({ cache: 'no-store' });
  assert.equal((await optionsOf(() => uncached.list())).cache, 'no-store');
});

for (const option of ['credentials', 'cache'] as const) {
  test(`the option ${option} is left out where Cloudflare Workers know no such one`, async () => {
    using _missing = replaced(Request.prototype, option);
    for (const cache of [undefined, 'no-store'] as const)
      assert.ok(!(option in (await optionsOf(() => clientWith(cache && { cache }).list()))));
  });
}

for (const mark of [{ digest: 'DYNAMIC_SERVER_USAGE' }, { code: 'NEXT_STATIC_GEN_BAILOUT' }]) {
  test(`an error by which Next.js steers passes through as it is, and nothing is repeated · ${JSON.stringify(mark)}`, async () => {
    const steering = Object.assign(new Error('Dynamic server usage'), mark);
    const throwing = () => {
      throw steering;
    };
    const fetched = mock.method(globalThis, 'fetch', async () => throwing());
    const same = (error: unknown) => error === steering;
    await assert.rejects(clientWith().list(), same);
    await assert.rejects(clientWith().create(MILK, { idempotencyKey: true }), same);
    assert.equal(fetched.mock.callCount(), 2);
    fetched.mock.restore();
    await assert.rejects(clientWith({ token: throwing }).list(), same);
    const token = ({ refused }: { readonly refused: boolean }) => (refused ? throwing() : 'a.b.c');
    await assert.rejects(clientWith({ token }).list(), same);
  });
}

test('an aborted call ends with the reason of its signal, while it waits too', async () => {
  const reason = new Error('The page was left');
  await assert.rejects(clientWith().list({ signal: AbortSignal.abort(reason) }), reason);
  const controller = new AbortController();
  proxy.fates.push({ status: 503, headers: { ...PROBLEM, 'retry-after': '30' }, body: UNAVAILABLE });
  const waiting = clientWith().list({ signal: controller.signal });
  while (lines().length === 0) await new Promise(setImmediate);
  controller.abort(reason);
  await assert.rejects(waiting, reason);
  assert.deepEqual(lines(), ['GET /todos 503']);
});

/** What older engines lack, by the name of what has it. */
const MISSING = [
  ['response.body', Response.prototype, 'body'],
  ['URL.canParse', URL, 'canParse'],
  ['signal.throwIfAborted', AbortSignal.prototype, 'throwIfAborted'],
  ['signal.reason', AbortSignal.prototype, 'reason'],
  ['crypto.getRandomValues', Object.getPrototypeOf(crypto), 'getRandomValues'],
  ['crypto', globalThis, 'crypto'],
  ['the option cache', Request.prototype, 'cache'],
] as const;

for (const [name, owner, member] of MISSING) {
  test(`without ${name} todos are written and read, problems are told, and calls are aborted`, async () => {
    using _missing = replaced(owner, member);
    let newest = 'a.b.c';
    const client = clientWith({ token: ({ refused }) => (newest = refused ? service.editor : newest) });
    proxy.fates.push('pass', 'cut after');
    const { todo, etag } = await client.create(
      { ...MILK, title: 'é'.repeat(100) },
      { idempotencyKey: name.replaceAll(' ', '-') },
    );
    assert.deepEqual(await client.get(todo.id), { todo, etag });
    assert.equal((await client.get(todo.id)).todo, (await client.get(todo.id)).todo);
    await client.replace(todo.id, MILK, { ifMatch: etag });
    assert.ok((await client.list()).todos.some(({ id }) => id === todo.id));
    await client.remove(todo.id);
    const missing = await errorOf(client.get(todo.id));
    assert.ok(missing instanceof TodoProblem);
    assert.equal(missing.message, '404 Not Found');
    assert.throws(() => clientWith({ baseUrl: 'todos' }), /^TypeError: baseUrl must be/);

    const controller = new AbortController();
    const hanging = clientWith({ token: () => new Promise<string>(() => {}) });
    const calls = [hanging, client].map((one) => one.list({ signal: controller.signal }));
    controller.abort();
    for (const call of calls) await assert.rejects(call, { name: 'AbortError' });
    await assert.rejects(client.list({ signal: controller.signal }), { name: 'AbortError' });
  });
}

for (const body of ['undefined', 'a stream of Node.js'] as const) {
  test(`where the body of a response is ${body}, both limits hold, in bytes`, async () => {
    const value = body === 'undefined' ? undefined : { pipe() {} };
    using _missing = replaced(Response.prototype, 'body', { value });
    const text = JSON.stringify([todo(1, 'é')]);
    const bytes = Buffer.byteLength(text);
    proxy.fates.push({ status: 200, body: text }, { status: 200, body: text });
    assert.equal((await clientWith({ maxAnswerBytes: bytes }).list()).todos[0]?.title, 'é');
    const { message } = await errorOf(clientWith({ maxAnswerBytes: bytes - 1 }).list());
    assert.equal(message, `200, and the answer has more than ${bytes - 1} bytes`);
    // Of 64 KiB, and of one byte more.
    const problem = JSON.stringify({ title: 'Bad Request', status: 400, detail: 'ß'.repeat(32_744) });
    assert.equal(Buffer.byteLength(problem), 64 * 1024);
    for (const [sent, isProblem] of [
      [problem, true],
      [`${problem} `, false],
    ] as const) {
      proxy.fates.push({ status: 400, headers: PROBLEM, body: sent });
      assert.equal((await errorOf(clientWith().list())) instanceof TodoProblem, isProblem);
    }
  });
}

test('where Error does not know the option cause, the error of a missing answer has its reason too', async () => {
  const older = class extends Error {
    constructor(message?: string) {
      super(message);
    }
  };
  const url = new URL('../../packages/client/src/client.ts?older', import.meta.url).href;
  const { createTodoClient }: typeof import('../../packages/client/src/client.ts') = await (async () => {
    using _older = replaced(globalThis, 'Error', { value: older });
    return await import(url);
  })();
  proxy.fates.push('cut before');
  const client = createTodoClient({ baseUrl: proxy.url, retries: 0 });
  const error = await client.list().catch((reason) => reason);
  assert.ok(error instanceof older);
  assert.match(String(error.cause), /^TypeError: fetch failed/);
});

test('without crypto.getRandomValues the key true is a TypeError that says so, and nothing is sent', async () => {
  using _missing = replaced(Object.getPrototypeOf(crypto), 'getRandomValues');
  await assert.rejects(clientWith().create(MILK, { idempotencyKey: true }), {
    name: 'TypeError',
    message: 'idempotencyKey must be a string here: this engine has no crypto.getRandomValues',
  });
  assert.deepEqual(lines(), []);
});

/** Takes a member away, or gives it another value, until the end of the block. */
function replaced(owner: object, member: string, other?: PropertyDescriptor): Disposable {
  const original = Object.getOwnPropertyDescriptor(owner, member);
  Reflect.deleteProperty(owner, member);
  assert.ok(!(member in owner) || original === undefined);
  if (other !== undefined) Object.defineProperty(owner, member, { configurable: true, ...other });
  return {
    [Symbol.dispose]() {
      Reflect.deleteProperty(owner, member);
      if (original !== undefined) Object.defineProperty(owner, member, original);
    },
  };
}

type Client = ReturnType<typeof clientWith>;

/** Every call of the service, and whether it is a change. */
const CALLS = [
  ['list', false, (client: Client) => client.list()],
  ['get', false, (client: Client) => client.get(1)],
  ['me', false, (client: Client) => client.me()],
  ['create', true, (client: Client) => client.create(MILK)],
  ['replace', true, (client: Client) => client.replace(1, MILK)],
  ['remove', true, (client: Client) => client.remove(1)],
  ['complete', true, (client: Client) => client.complete(1)],
] as const;

for (const [name, isChange, call] of CALLS) {
  test(`a 304 that ${name} did not ask for is an error`, async () => {
    proxy.fates.push({ status: 304 });
    const error = await errorOf(call(clientWith()));
    assert.equal(error.status, 304);
    assert.equal(error.outcomeUnknown, isChange);
  });
}

for (const [name, isChange, call] of CALLS) {
  const hasJson = name !== 'replace' && name !== 'remove';
  const strange = name === 'list' ? '[{"id":1,"title":"a","done":false,"categoryId":"1"}]' : '[]';
  for (const body of ['<h1>Log in</h1>', '42', 'null', '"ada"', '{"a":1}', strange, hasJson ? '' : '{}']) {
    test(`a 200 with ${JSON.stringify(body)} is no answer to ${name}`, async () => {
      proxy.fates.push({ status: 200, body });
      const error = await errorOf(call(clientWith()));
      assert.equal(error.message, '200 is no answer of the service');
      assert.equal(error.outcomeUnknown, isChange);
    });
  }
}

for (const body of ['42', '"x"', '[]', '{}', '{"title":5}', '{"title":{"toString":null}}']) {
  test(`the problem ${body} is none of the service: its change is not repeated, and the status is known`, async () => {
    proxy.fates.push({ status: 503, headers: NOW, body });
    const error = await errorOf(clientWith().create(MILK));
    assert.ok(!(error instanceof TodoProblem));
    assert.equal(error.status, 503);
    assert.equal(error.outcomeUnknown, true);
    assert.equal(lines().length, 1);
  });
}

for (const [member, value] of [
  ['detail', { toString: null }],
  ['detail', 5],
  ['traceId', ['00-x']],
  ['errors', 5],
  ['errors', { title: 'wrong' }],
  ['errors', { title: [5] }],
] as const) {
  test(`of a problem, ${member} ${JSON.stringify(value)} is left out`, async () => {
    const body = JSON.stringify({ title: 'Bad Request', status: 400, [member]: value });
    proxy.fates.push({ status: 400, headers: PROBLEM, body });
    const error = await errorOf(clientWith().create(MILK));
    assert.ok(error instanceof TodoProblem);
    assert.equal(error.message, '400 Bad Request');
    assert.equal(error[member], undefined);
  });
}

test('a create has an unknown outcome after an attempt of which that is so, whatever a repeat is told', async () => {
  const forbidden = JSON.stringify({ title: 'Forbidden', status: 403 });
  proxy.fates.push({ status: 502 }, { status: 403, headers: PROBLEM, body: forbidden });
  const error = await errorOf(clientWith().create(MILK, { idempotencyKey: true }));
  assert.equal(error.status, 403);
  assert.equal(error.outcomeUnknown, true);
  proxy.fates.push({ status: 429, headers: { 'retry-after': '0' } });
  proxy.fates.push({ status: 403, headers: PROBLEM, body: forbidden });
  assert.equal((await errorOf(clientWith().create(MILK, { idempotencyKey: true }))).outcomeUnknown, false);
});

const RFC9110 = 'https://tools.ietf.org/html/rfc9110';

for (const [status, type] of [
  [500, `${RFC9110}#section-15.6.1`],
  [502, `${RFC9110}#section-15.6.3`],
  [504, `${RFC9110}#section-15.6.5`],
  [503, 'about:blank'],
  [503, undefined],
] as const) {
  test(`a create is not repeated after a gateway's problem ${status} of type ${type} that names a wait`, async () => {
    const body = JSON.stringify({ type, title: 'Gateway', status });
    proxy.fates.push({ status, headers: NOW, body });
    const error = await errorOf(clientWith().create(MILK));
    assert.ok(error instanceof TodoProblem);
    assert.equal(error.outcomeUnknown, true);
    assert.equal(lines().length, 1);
  });
}

for (const [status, type] of [
  [409, `${RFC9110}#section-15.5.10`],
  [429, undefined],
  [503, `${RFC9110}#section-15.6.4`],
] as const) {
  test(`a create is repeated after the service's problem ${status} that names a wait, and nothing was changed`, async () => {
    const fate = { status, headers: NOW, body: JSON.stringify({ type, title: 'Later', status }) };
    proxy.fates.push(fate, fate, fate);
    const error = await errorOf(clientWith({ retries: 1 }).create(MILK));
    assert.equal(error.outcomeUnknown, false);
    await clientWith().create(MILK);
    const refused = `POST /todos ${status}`;
    assert.deepEqual(lines(), [refused, refused, refused, 'POST /todos 201']);
  });
}

for (const baseUrl of [
  ...['', '127.0.0.1:5150', 'localhost:5150', '/api', '//todos.example', 'ftp://todos.example'],
  ...['https://todos.example?a=1', 'https://todos.example/#a', 'https://'],
]) {
  test(`the base URL ${JSON.stringify(baseUrl)} is refused when the client is made`, () => {
    assert.throws(() => createTodoClient({ baseUrl }), {
      name: 'TypeError',
      message: `baseUrl must be an absolute http or https URL without a user, a query and a fragment, received ${JSON.stringify(baseUrl)}`,
    });
  });
}

test('the error about a base URL with a user does not show the password', () => {
  assert.throws(
    () => createTodoClient({ baseUrl: 'https://ada:secret@todos.example' }),
    (error: Error) => error instanceof TypeError && !error.message.includes('secret'),
  );
});

test('an answer larger than the limit is an error whose status is known, and one as large is taken', async () => {
  const body = JSON.stringify([todo(1, 'é')]);
  const maxAnswerBytes = Buffer.byteLength(body);
  const answer = { status: 200, headers: { 'content-type': 'application/json' }, body };
  proxy.fates.push(answer, answer, answer);
  assert.equal((await clientWith({ maxAnswerBytes }).list()).todos.length, 1);
  const read = await errorOf(clientWith({ maxAnswerBytes: maxAnswerBytes - 1 }).list());
  assert.equal(read.message, `200, and the answer has more than ${maxAnswerBytes - 1} bytes`);
  assert.equal(read.status, 200);
  assert.equal(read.outcomeUnknown, false);
  const change = clientWith({ maxAnswerBytes: maxAnswerBytes - 1 }).create(MILK);
  assert.equal((await errorOf(change)).outcomeUnknown, true);
  assert.equal(lines().length, 3);
});

test('an error with more than 64 KiB is no problem of the service', async () => {
  const body = JSON.stringify({ title: 'Bad Request', status: 400, detail: 'a'.repeat(64 * 1024) });
  proxy.fates.push({ status: 400, headers: PROBLEM, body });
  const error = await errorOf(clientWith().create(MILK));
  assert.ok(!(error instanceof TodoProblem));
  assert.equal(error.message, '400');
});

for (const wait of ['-5', '1.5', '1, 2', 'later 1']) {
  test(`"${wait}" names no wait: a change is not repeated`, async () => {
    proxy.fates.push({ status: 503, headers: { ...PROBLEM, 'retry-after': wait }, body: UNAVAILABLE });
    const error = await errorOf(clientWith().create(MILK));
    assert.equal(error.retryAfterMs, undefined);
    assert.equal(error.outcomeUnknown, true);
    assert.equal(lines().length, 1);
  });
}

for (const [retries, attempts] of [
  [-1, 1],
  [1.5, 3],
  [Number.NaN, 1],
] as const) {
  test(`with ${retries} retries a call is made ${attempts} times`, async () => {
    const fate = { status: 503, headers: NOW, body: UNAVAILABLE };
    proxy.fates.push(fate, fate, fate, fate);
    assert.equal((await errorOf(clientWith({ retries }).list())).status, 503);
    assert.equal(lines().length, attempts);
  });
}

/** The waits of a call that gets a 502 again and again, when chance is this. */
async function waitsOf(options: Partial<ClientOptions>, chance: number): Promise<unknown[]> {
  const waits: unknown[] = [];
  const doubles = [
    mock.method(globalThis, 'fetch', async () => new Response(null, { status: 502 })),
    mock.method(Math, 'random', () => chance),
    mock.method(globalThis, 'setTimeout', (over: () => void, wait: number) => {
      waits.push(wait);
      queueMicrotask(over);
    }),
  ];
  try {
    assert.equal((await errorOf(clientWith(options).list())).status, 502);
  } finally {
    for (const double of doubles) double.mock.restore();
  }
  return waits;
}

for (const [maxWaitMs, waits] of [
  [undefined, [250, 500, 1_000]],
  [Number.NaN, [250, 500, 1_000]],
  ['100', [250, 500, 1_000]],
  [null, [250, 500, 1_000]],
  [Number.POSITIVE_INFINITY, [250, 500, 1_000]],
  [400, [250, 400, 400]],
  [100, [100, 100, 100]],
  [0.5, [0.5, 0.5, 0.5]],
  [0, []],
  [-1, []],
  [Number.NEGATIVE_INFINITY, []],
] as const) {
  test(`with a maxWaitMs of ${JSON.stringify(maxWaitMs)} a wait of its own is half of ${JSON.stringify(waits)} or more`, async () => {
    const options = { maxWaitMs } as Partial<ClientOptions>;
    assert.deepEqual(
      await waitsOf(options, 0),
      waits.map((wait) => wait / 2),
    );
    assert.deepEqual(
      await waitsOf(options, 0.5),
      waits.map((wait) => wait * 0.75),
    );
  });
}

test('waits of its own double until the longest', async () => {
  const waits = await waitsOf({ retries: 2_000, maxWaitMs: 60_000 }, 1);
  assert.deepEqual([waits.length, ...waits.slice(6, 9)], [2_000, 16_000, 32_000, 60_000]);
  assert.deepEqual(new Set(waits.slice(8)), new Set([60_000]));
});

for (const maxWaitMs of [0, -1]) {
  test(`with a maxWaitMs of ${maxWaitMs} a call is repeated when the service asks for no wait, and for none else`, async () => {
    proxy.fates.push({ status: 503, headers: NOW, body: UNAVAILABLE });
    await clientWith({ maxWaitMs }).create(MILK);
    proxy.fates.push({ status: 503, headers: { ...PROBLEM, 'retry-after': '1' }, body: UNAVAILABLE });
    assert.equal((await errorOf(clientWith({ maxWaitMs }).create(MILK))).status, 503);
    assert.equal(lines().length, 3);
  });
}

test('a wait that no timer can measure is not waited for, however long a wait may be', async () => {
  const headers = { ...PROBLEM, 'retry-after': '3000000' };
  proxy.fates.push({ status: 503, headers, body: UNAVAILABLE });
  const { retryAfterMs } = await errorOf(clientWith({ maxWaitMs: Number.POSITIVE_INFINITY }).create(MILK));
  assert.equal(retryAfterMs, 3_000_000_000);
  assert.equal(lines().length, 1);
});

test('an aborted call does not wait for its token', async () => {
  const controller = new AbortController();
  const reason = new Error('The page was left');
  const token = () => {
    queueMicrotask(() => controller.abort(reason));
    return new Promise<string>(() => {});
  };
  await assert.rejects(clientWith({ token }).list({ signal: controller.signal }), reason);
});

test('the error about a token that cannot be sent does not show it', async () => {
  for (const token of ['secret\ntoken', '\nsecret', 'secret…token']) {
    await assert.rejects(clientWith({ token }).list(), (error: Error) => {
      assert.equal(error.message, 'The token has a character that no header may have');
      return error.cause === undefined;
    });
  }
  assert.equal(lines().length, 0);
});

/** The error that a call ends with. */
async function errorOf(call: Promise<unknown>): Promise<TodoError> {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof TodoError, String(error));
    return error;
  }
  return assert.fail('it succeeded');
}
