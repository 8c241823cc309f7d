import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import manifest from '../../package.json' with { type: 'json' };
import { assertProblem } from '../../packages/conformance/src/problem.ts';
import { send, write } from '../../packages/conformance/src/target.ts';
import { sendAndLeave } from '../support/clients.ts';
import { type List, startList } from '../support/list.ts';
import { parseExposition, scrape, valuesOf } from '../support/prometheus.ts';
import { Connection, converse, together } from '../support/raw.ts';
import { startService } from '../support/start.ts';

const MILK = { title: 'Buy milk', categoryId: 1 };

/** A list with an admin listener. */
function startWatched(env: Readonly<Record<string, string>> = {}): Promise<List> {
  return startList({ env: { TODO_ADMIN_PORT: '0', ...env } });
}

test('requests are counted by method, route pattern and status; what is unknown makes no label of its own', async () => {
  await using list = await startWatched();
  await list.send('POST /todos', { json: MILK });
  await list.send('GET /todos/1');
  await list.send('GET /todos/2');
  await list.send('GET /secret/path');
  await list.send('PATCH /todos/1');
  await list.send('PROPFIND /secret/path');
  const reply = await fetch(`${list.adminUrl}/metrics`);
  assert.equal(reply.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  const text = await reply.text();
  const counted = parseExposition(text)
    .samples.filter(({ name }) => name === 'http_server_request_duration_seconds_count')
    .map(({ labels, value }) => [...Object.values(labels), value].join(' '));
  assert.deepEqual(counted.sort(), [
    'GET  404 1',
    'GET /todos/:id 200 1',
    'GET /todos/:id 404 1',
    'PATCH /todos/:id 405 1',
    'POST /todos 201 1',
    '_OTHER  404 1',
  ]);
  assert.doesNotMatch(text, /secret|PROPFIND/);
});

test('the buckets of a histogram grow up to its count', async () => {
  await using list = await startWatched();
  await list.send('GET /todos');
  const exposition = await scrape(list.adminUrl);
  const name = 'http_server_request_duration_seconds';
  const buckets = valuesOf(exposition, `${name}_bucket`);
  assert.deepEqual(
    buckets,
    buckets.toSorted((a, b) => a - b),
  );
  assert.equal(buckets.at(-1), 1);
  assert.equal(valuesOf(exposition, `${name}_bucket`, { le: '+Inf' })[0], 1);
});

test('what is refused before routing is counted by status, from 0', async () => {
  await using list = await startWatched();
  const none = valuesOf(await scrape(list.adminUrl), 'todo_refused_requests_total');
  assert.deepEqual(none, [0, 0, 0, 0]);
  await converse(list.url, 'not http\r\n\r\n');
  await converse(list.url, 'GET / HTTP/1.1\r\n\r\n');
  await converse(list.url, `GET / HTTP/1.1\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`);
  const exposition = await scrape(list.adminUrl);
  const refused = (status: string) =>
    valuesOf(exposition, 'todo_refused_requests_total', { http_response_status_code: status });
  assert.deepEqual([refused('400'), refused('431')], [[2], [1]]);
});

test('a client that goes away is counted, its request is under way no longer, and has no line', async () => {
  await using list = await startList({ logLevel: 'debug', env: { TODO_ADMIN_PORT: '0' } });
  const connection = await Connection.open(list.url);
  connection.socket.write('POST /todos HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n');
  const active = async () => valuesOf(await scrape(list.adminUrl), 'http_server_active_requests')[0];
  while ((await active()) !== 1);
  await connection[Symbol.asyncDispose]();
  while ((await active()) !== 0);
  assert.deepEqual(valuesOf(await scrape(list.adminUrl), 'todo_aborted_requests_total'), [1]);
  await list.send('GET /me');
  while (list.lines(/^request$/).length === 0) await new Promise(setImmediate);
  assert.deepEqual(
    list.lines(/^request$/).map(({ method, route }) => `${method} ${route}`),
    ['GET /me'],
  );
});

test('a client that closes its side before its answer is counted as one that goes away, and is answered [D10]', async () => {
  await using list = await startWatched();
  await using connection = await Connection.open(list.url);
  connection.socket.end(write(list.target, 'POST /todos', { token: list.editor, json: MILK }));
  await connection.closed();
  await list.send('GET /todos');
  assert.deepEqual(connection.statuses(), [201]);
  const exposition = await scrape(list.adminUrl);
  assert.deepEqual(valuesOf(exposition, 'todo_aborted_requests_total'), [1]);
  const answered = { http_route: '/todos', http_response_status_code: '201' };
  assert.deepEqual(valuesOf(exposition, 'http_server_request_duration_seconds_count', answered), [1]);
});

test('operations of the store and commits are timed', async () => {
  await using list = await startWatched();
  await list.send('POST /todos', { json: MILK });
  await list.send('PUT /todos/1', { json: { ...MILK, done: true } });
  await list.send('GET /todos');
  await list.send('GET /todos/1');
  await list.send('DELETE /todos/1');
  const exposition = await scrape(list.adminUrl);
  for (const operation of ['add', 'replace', 'list', 'find', 'remove']) {
    const labels = { db_system_name: 'sqlite', db_operation_name: operation, error_type: '' };
    assert.deepEqual(valuesOf(exposition, 'db_client_operation_duration_seconds_count', labels), [1]);
  }
  assert.deepEqual(valuesOf(exposition, 'todo_commit_writes_sum'), [3]);
  assert.deepEqual(valuesOf(exposition, 'todo_commit_duration_seconds_count'), [3]);
  assert.ok(Number(valuesOf(exposition, 'todo_database_wal_size_bytes')[0]) > 0);
});

test('the sizes of file, log, list and cache are those of now, and those that nobody knows are missing', async () => {
  await using list = await startWatched();
  await list.send('POST /todos', { json: MILK });
  const { body: todo } = await list.send('GET /todos/1');
  const { body } = await list.send('GET /todos');
  const exposition = await scrape(list.adminUrl);
  const path = join(list.dataDir, 'todos.db');
  const sizeOf = (file: string) => valuesOf(exposition, 'todo_database_size_bytes', { file });
  assert.deepEqual(sizeOf('main'), [statSync(path).size]);
  assert.deepEqual(sizeOf('wal'), [statSync(`${path}-wal`).size]);
  assert.deepEqual(valuesOf(exposition, 'todo_database_wal_size_bytes'), sizeOf('wal'));
  assert.deepEqual(valuesOf(exposition, 'todo_list_size_bytes'), [body.length - 1]);
  const [cached = 0] = valuesOf(exposition, 'todo_cache_size_bytes');
  assert.ok(cached > todo.length && cached < 1_000, String(cached));
  rmSync(path);
  assert.deepEqual(valuesOf(await scrape(list.adminUrl), 'todo_database_size_bytes', { file: 'main' }), []);
  // A link that leads to itself cannot be looked at, as a disk that fails.
  symlinkSync(path, path);
  assert.deepEqual(valuesOf(await scrape(list.adminUrl), 'todo_database_size_bytes', { file: 'main' }), []);
});

test('an operation is timed even if its client has left', async () => {
  await using list = await startWatched();
  using other = new DatabaseSync(join(list.dataDir, 'todos.db'));
  other.exec('BEGIN IMMEDIATE');
  await using connection = await Connection.open(list.url);
  await sendAndLeave(connection.socket, write(list.target, 'DELETE /todos/1', { token: list.editor }));
  const aborted = async () => valuesOf(await scrape(list.adminUrl), 'todo_aborted_requests_total')[0];
  while ((await aborted()) !== 1);
  other.exec('ROLLBACK');
  const removed = async () =>
    valuesOf(await scrape(list.adminUrl), 'db_client_operation_duration_seconds_count', {
      db_operation_name: 'remove',
    });
  while ((await removed()).length === 0);
  assert.deepEqual(await removed(), [1]);
});

test('writes that share a commit are timed once, by their number', async () => {
  await using list = await startWatched();
  const request = write(list.target, 'POST /todos', { token: list.editor, json: MILK });
  await together(list.url, [request, request, request]);
  const exposition = await scrape(list.adminUrl);
  assert.deepEqual(valuesOf(exposition, 'todo_commit_duration_seconds_count'), [1]);
  assert.deepEqual(valuesOf(exposition, 'todo_commit_writes_count'), [1]);
  assert.deepEqual(valuesOf(exposition, 'todo_commit_writes_sum'), [3]);
});

async function fail(list: List) {
  return assertProblem(await list.send('POST /todos', { json: MILK }), 503, { detail: 'optional' });
}

test('a batch that commits nothing, refused or failed, is no commit', async () => {
  await using list = await startWatched();
  assert.equal((await list.send('POST /todos', { json: MILK })).status, 201);
  assert.equal((await list.send('DELETE /todos/7')).status, 404);
  assert.equal((await list.send('POST /todos', { json: { ...MILK, categoryId: 9 } })).status, 400);
  rmSync(join(list.dataDir, 'todos.db'));
  for (let time = 0; time < 2; time += 1) await fail(list);
  const exposition = await scrape(list.adminUrl);
  assert.deepEqual(valuesOf(exposition, 'todo_commit_duration_seconds_count'), [1]);
  assert.deepEqual(valuesOf(exposition, 'todo_commit_writes_count'), [1]);
  const labels = { db_operation_name: 'add', error_type: 'StoreBroken' };
  assert.deepEqual(valuesOf(exposition, 'db_client_operation_duration_seconds_count', labels), [2]);
});

test('verdicts on tokens are counted by code', async () => {
  await using list = await startWatched();
  await send(list.target, 'GET /me');
  for (const token of ['x', list.reader, list.reader]) await list.send('GET /me', { token });
  const exposition = await scrape(list.adminUrl);
  const verdicts = (code: string) => valuesOf(exposition, 'todo_token_verdicts_total', { code })[0];
  assert.deepEqual(
    [verdicts('credentials-missing'), verdicts('token-form'), verdicts('accepted')],
    [1, 1, 2],
  );
});

test('fetches of keys are counted, and whether the last one brought some is said', async () => {
  const env = { TODO_AUTH_SECRET_FILE: '', TODO_AUTH_JWKS_URL: 'http://127.0.0.1:9/keys' };
  await using list = await startWatched(env);
  const failures = async () =>
    valuesOf(await scrape(list.adminUrl), 'todo_key_fetches_total', { outcome: 'failed' })[0] ?? 0;
  while ((await failures()) === 0);
  assert.deepEqual(valuesOf(await scrape(list.adminUrl), 'todo_keys_last_fetch_successful'), [0]);
});

test('the process is described by the names of prom-client, without its delay of the event loop', async () => {
  await using list = await startWatched();
  const { types } = await scrape(list.adminUrl);
  for (const [name, type] of [
    ['build_info', 'gauge'],
    ['todo_ready', 'gauge'],
    ['process_cpu_seconds_total', 'counter'],
    ['process_resident_memory_bytes', 'gauge'],
    ['process_start_time_seconds', 'gauge'],
    ['nodejs_heap_size_used_bytes', 'gauge'],
    ['nodejs_gc_duration_seconds', 'histogram'],
    ['todo_stalled_seconds_total', 'counter'],
  ] as const) {
    assert.equal(types.get(name), type);
  }
  assert.doesNotMatch([...types.keys()].join(' '), /eventloop/);
});

test('todo_stalled_seconds_total counts for how long a process was stopped, and the log has 5 s or more', async () => {
  const env = { TODO_ADMIN_PORT: '0' };
  await using service = await startService({ profile: 'error-demo', environment: 'production', env });
  const stalled = async () => valuesOf(await scrape(service.adminUrl), 'todo_stalled_seconds_total')[0] ?? 0;
  const before = await stalled();
  process.kill(service.pid, 'SIGSTOP');
  await pause(5_500);
  process.kill(service.pid, 'SIGCONT');
  // What has arrived meanwhile may be answered before the stall is seen.
  await stalled();
  const counted = (await stalled()) - before;
  assert.ok(counted >= 5.4, String(counted));
  const line = () => /"event":"stalled","milliseconds":(\d+),/.exec(service.stdout());
  while (line() === null) await pause(10);
  assert.ok(Number(line()?.[1]) >= 5_400, service.stdout());
});

test('build_info says the version and the schema of a service', async () => {
  await using list = await startWatched();
  const schema = new DatabaseSync(join(list.dataDir, 'todos.db'), { readOnly: true });
  const { user_version } = schema.prepare('PRAGMA user_version').get() ?? {};
  schema.close();
  const running = { schema_version: String(user_version), service_version: manifest.version };
  assert.deepEqual(valuesOf(await scrape(list.adminUrl), 'build_info', running), [1]);
});

test('metrics are read when no file can be opened any more, and say how many were open', {
  skip: process.platform !== 'linux' && 'needs prlimit',
}, async () => {
  const env = { TODO_ADMIN_PORT: '0' };
  await using service = await startService({ profile: 'error-demo', environment: 'production', env });
  await using connection = await Connection.open(service.adminUrl);
  const get = (path: string, last = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${last}\r\n`;
  connection.socket.write(get('/metrics'));
  await connection.until('build_info{');
  const open = new Set(readdirSync(`/proc/${service.pid}/fd`).map(Number));
  const firstFree = Array.from({ length: open.size + 1 }, (_, number) => number).find(
    (number) => !open.has(number),
  );
  execFileSync('prlimit', [`--pid=${service.pid}`, `--nofile=${firstFree}`]);
  connection.socket.write(get('/metrics', 'Connection: close\r\n'));
  await connection.closed();
  const { status, body } = connection.answers()[1] ?? {};
  const text = String(body);
  assert.equal(status, 200);
  assert.match(text, /^build_info/m);
  assert.ok(Number(/^process_open_fds (\d+)$/m.exec(text)?.[1]) >= open.size - 1, text);
});
