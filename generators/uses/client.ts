import assert from 'node:assert/strict';

interface Body {
  title: string;
  categoryId: number;
}

interface Problem {
  readonly title: string;
  readonly status: number;
  readonly traceId: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

/** An answer as a generated client gives it; an error may be a line of text. */
interface Answer<Data> {
  readonly response?: { readonly status: number; readonly headers: Headers } | undefined;
  readonly data?: Data | undefined;
  readonly error?: Problem | string | undefined;
}

/** Another token than that of the editor, none when it is empty. */
type Token = string | undefined;

/** What each generated client can do, by the types that it was generated with. */
export interface Client {
  create(body: Body): Promise<Answer<{ id: number; title: string; done: boolean; categoryId: number }>>;
  get(id: number, ifNoneMatch?: string): Promise<Answer<object>>;
  /** `done` may be left out. */
  replace(id: number, body: Body): Promise<Answer<unknown>>;
  remove(id: number, ifMatch?: string, token?: Token): Promise<Answer<unknown>>;
  list(token?: Token): Promise<Answer<readonly { readonly title: string }[]>>;
  me(): Promise<Answer<{ name: string | null }>>;
  complete(id: number): Promise<Answer<{ id: number; done: true }>>;
  crash(): Promise<Answer<unknown>>;
}

/** Uses every operation of both services, and meets every kind of error. */
export async function use(client: Client, reader: string): Promise<void> {
  const created = await client.create({ title: 'Buy milk', categoryId: 2 });
  const { data: todo, response } = created;
  assert.ok(todo);
  const { id } = todo;
  assert.deepEqual(todo, { id, title: 'Buy milk', done: false, categoryId: 2 });
  assert.equal(response?.headers.get('location'), `/todos/${id}`);
  const etag = response?.headers.get('etag') ?? '';

  assert.equal((await client.get(id, etag)).response?.status, 304);
  const replaced = await client.replace(id, { title: 'Buy bread', categoryId: 1 });
  assert.equal(replaced.response?.status, 204);
  const { data: all } = await client.list();
  assert.ok(all?.some(({ title }) => title === 'Buy bread'));
  assert.equal((await client.me()).data?.name, 'Ada');

  const { error: invalid } = await client.create({ title: '', categoryId: 2 });
  assert.ok(typeof invalid === 'object');
  assert.deepEqual(Object.keys(invalid.errors ?? {}), ['title']);
  titled(await client.remove(id, etag), 412, 'Precondition Failed');
  titled(await client.create({ title: 'Buy milk', categoryId: 99 }), 400, 'Category not found');
  titled(await client.remove(id, undefined, reader), 403, 'Forbidden');
  const anonymous = await client.list('');
  titled(anonymous, 401, 'Unauthorized');
  assert.match(anonymous.response?.headers.get('www-authenticate') ?? '', /^Bearer realm=/);
  await client.remove(id);
  titled(await client.get(id), 404, 'Not Found');

  // The client before has completed it.
  const { data: completed } = await client.complete(1);
  if (completed !== undefined) assert.deepEqual([completed.id, completed.done], [1, true]);
  titled(await client.complete(1), 409, 'Todo is already completed');
  const crash = await client.crash();
  titled(crash, 500, 'An error occurred while processing your request.');
  assert.equal(crash.response?.headers.get('cache-control'), 'no-cache,no-store');
}

function titled({ response, error }: Answer<unknown>, status: number, title: string): void {
  assert.ok(typeof error === 'object', String(error));
  assert.deepEqual([response?.status, error.status, error.title], [status, status, title]);
  assert.match(error.traceId, /^00-/);
}
