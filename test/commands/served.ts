import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { signer } from '../../conformance/src/sign.ts';
import { type AuthSettings, type Running, type ServeOptions, startService } from '../start.ts';

const auth: AuthSettings = {
  issuer: 'https://issuer.example',
  audience: 'todo-service',
  secret: randomBytes(32),
};
const authorization = `Bearer ${signer(auth)({ role: 'editor' })}`;

/** Starts the service on a database. */
export function serve(database: string, options: ServeOptions = {}): Promise<Running> {
  return startService({ auth, ...options, args: ['--database', database, ...(options.args ?? [])] });
}

/** Adds a todo, which must be answered with `status`. */
export async function post(
  service: Running,
  { title = 'a', categoryId = 1, status = 201 } = {},
): Promise<void> {
  const reply = await fetch(`${service.baseUrl}/todos`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ title, categoryId }),
  });
  assert.equal(reply.status, status);
}

/** Sends a request of an editor. */
export function ask(
  service: Running,
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const all = { authorization, 'content-type': 'application/json', ...headers };
  return fetch(`${service.baseUrl}${path}`, { method, headers: all, ...text });
}

/** The titles of all todos, by id. */
export async function titles(service: Running): Promise<string[]> {
  const reply = await fetch(`${service.baseUrl}/todos`, { headers: { authorization } });
  const todos = (await reply.json()) as { readonly title: string }[];
  return todos.map(({ title }) => title);
}
