import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { PostgresServer } from '../test/storage/postgres-server.ts';
import { testAuth } from '../test/support/list.ts';
import { processorSeconds, residentMegabytes } from '../test/support/process-figures.ts';
import { runProgram } from '../test/support/start.ts';
import { CONNECTIONS, type Flags } from './compare.ts';
import { startLoaded } from './endurance/load.ts';
import { insertTodos, makeTodos } from './endurance/make-todos.ts';
import { type Cost, draw, load } from './load.ts';

/** Megabytes of a process at the most, and of the file or the tables; milliseconds of processor of the first list. */
export interface Size extends Readonly<Record<'memory' | 'database' | 'firstList', number>> {
  readonly costs: Readonly<
    Record<'one' | 'unchanged' | 'gzip' | 'list' | 'replace' | 'changed' | 'mixed', Cost>
  >;
}

/** A database with so many todos, whose titles compress as badly as text of people does: its URL and its bytes. */
async function fill(todos: number, folder: string, postgres: PostgresServer | undefined) {
  if (postgres === undefined) {
    const file = join(folder, `size-${todos}.db`);
    await makeTodos(file, todos);
    return { url: `sqlite:${file}`, bytes: statSync(file).size };
  }
  const url = await postgres.makeDatabase();
  await runProgram(['migrate', '--database', url]);
  await postgres.execute(url, insertTodos(todos, 'upper(substr(md5(i::text), 1, 26)), false, 1'));
  await postgres.execute(url, 'VACUUM ANALYZE todos');
  const [row] = await postgres.execute(url, "SELECT pg_total_relation_size('todos') AS bytes");
  return { url, bytes: Number(row?.bytes) };
}

/** Measures services of a new database, one kind of request after the other; some change it. */
export async function measureSize(
  postgres: PostgresServer | undefined,
  todos: number,
  instances: number,
  folder: string,
  { rounds, seconds, warmUpSeconds }: Flags,
): Promise<Size> {
  await using parts = new AsyncDisposableStack();
  const { url, bytes } = await fill(todos, folder, postgres);
  const options = { auth: testAuth(), built: true, args: ['--database', url] };
  const { service, token, ask } = await startLoaded(parts, options);
  const servers = [service];
  while (servers.length < instances) servers.push((await startLoaded(parts, options)).service);
  const postmaster =
    postgres && Number(/^\d+/.exec(readFileSync(join(postgres.dataFolder, 'postmaster.pid'), 'utf8')));
  const before = processorSeconds(service.pid);
  let { status, etag } = await ask('GET', '/todos');
  // A busy machine may take longer to open a connection than a request waits.
  while (status === 503) ({ status, etag } = await ask('GET', '/todos'));
  const firstList = (processorSeconds(service.pid) - before) * 1e3;
  const target = { token, servers, postmaster };
  const drive = async (requests: readonly string[], connections = CONNECTIONS, header?: string) => {
    if (warmUpSeconds > 0) await load(target, requests, connections, warmUpSeconds, header);
    return load(target, requests, connections, seconds * rounds, header);
  };
  const replaces = draw('replace', todos);
  const changes = replaces.slice(0, 999).flatMap((replace) => [replace, 'GET /todos']);
  const costs = {
    one: await drive(draw('one', todos)),
    unchanged: await drive(['GET /todos'], CONNECTIONS, `If-None-Match: ${etag}`),
    gzip: await drive(['GET /todos'], instances, 'Accept-Encoding: gzip'),
    list: await drive(['GET /todos'], instances),
    replace: await drive(replaces),
    changed: await drive(changes, instances),
    mixed: await drive(draw('mixed', todos)),
  };
  const memory = Math.max(...servers.map(({ pid }) => residentMegabytes(pid, 'most')));
  return { memory, database: bytes / 1e6, firstList, costs };
}
