import { ok, strictEqual } from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { header, json as jsonOf } from '../conformance/src/http.ts';
import type { Prepared } from './kit.ts';
import { ask, create, readOne, type TodoRequest } from './requests.ts';
import type { Server } from './servers.ts';

/**
 * Whether a server answers correctly: the first request of each method and status, with its body; and where it
 * knows tokens, that it refuses what must be refused.
 *
 * @throws AssertionError with the difference.
 */
export async function checkAnswers(
  server: Server,
  port: number,
  { requests, tokens, editor }: Prepared,
): Promise<void> {
  // Reads first: a write would change what the list is compared with.
  const samples = [...Map.groupBy(requests, ({ method, path }) => `${method} ${path === '/todos'}`).values()]
    .flatMap(([first]) => first ?? [])
    .toSorted((a, b) => a.method.localeCompare(b.method));
  for (const sample of samples) await checkAnswer(port, sample, server.role === 'floor');
  if (server.role === 'floor') return;
  const reader = await tokens.make({ name: 'ben' });
  await checkAnswer(port, readOne(1, reader));
  await checkAnswer(port, { ...readOne(1, ''), expected: { status: 401 } });
  await checkAnswer(port, { ...readOne(1, forged(editor)), expected: { status: 401 } });
  await checkAnswer(port, { ...create(1, reader), expected: { status: 403 } });
  await checkAnswer(port, { ...create(1, editor), body: '{"title":""}', expected: { status: 400 } });
}

/** The same token with another first character in its signature. */
function forged(token: string): string {
  const at = token.lastIndexOf('.') + 1;
  return `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`;
}

/** A floor may answer every request with the same todo. */
async function checkAnswer(port: number, request: TodoRequest, anyTodo = false): Promise<void> {
  const { method, path, expected } = request;
  const answer = await ask(port, request);
  const { status, body } = answer;
  const about = `${method} ${path}: ${status}, ${body.length} bytes, ${body.toString().slice(0, 200)}`;
  strictEqual(status, expected.status, about);
  if (expected.json === undefined) return;
  const type = header(answer, 'content-type') ?? '';
  ok(type.startsWith(expected.status === 404 ? 'application/problem+json' : 'application/json'), type);
  const json = jsonOf(answer);
  const wanted = Array.isArray(expected.json) ? expected.json : { ...Object(json), ...expected.json };
  const equal = anyTodo
    ? isDeepStrictEqual(Object.keys(Object(json)), Object.keys(expected.json))
    : isDeepStrictEqual(json, wanted);
  // Not `deepStrictEqual`, whose look for the difference of two long lists takes all memory there is.
  ok(equal, about);
  if (expected.status === 201) strictEqual(header(answer, 'location'), `/todos/${Object(json).id}`);
}
