import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { familySeconds, processorSeconds } from '../test/support/process-figures.ts';
import { outputOf } from '../tools/command.ts';

export type Kind = 'one' | 'list' | 'create' | 'replace' | 'mixed';

/** Requests over so many todos, `PUT /todos/1 {…}` for one; the load goes through them again and again. */
export function draw(kind: Kind, todos: number): readonly string[] {
  return Array.from({ length: 10_000 }, (_, index) => {
    const part = kind === 'mixed' ? index % 20 : { one: 0, replace: 15, list: 19, create: 20 }[kind];
    const path = `/todos/${1 + ((index * 7_919) % todos)}`;
    const body = JSON.stringify({ title: `Water the plants ${index}`, categoryId: 1 });
    if (part < 15) return `GET ${path}`;
    if (part < 19) return `PUT ${path} ${body}`;
    return part === 19 ? 'GET /todos' : `POST /todos ${body}`;
  });
}

/** Two cores that this process may use, for the servers and for the load. */
export const cores = /: (\d+)[-,](\d+)/.exec(outputOf('taskset', '-cp', `${process.pid}`) ?? '');

/** Processes that serve the same database, and the first process of its PostgreSQL. */
export interface Target {
  readonly token: string;
  readonly servers: readonly { readonly baseUrl: string; readonly pid: number }[];
  readonly postmaster?: number | undefined;
}

/** Of a request: microseconds of processor of all threads of the servers, and of PostgreSQL; bytes of the answer. */
export type Cost = Readonly<Record<'service' | 'postgres' | 'bytes' | 'perSecond', number>>;

type Result = Readonly<Record<'requests' | 'seconds' | 'bytes' | 'failed', number>>;

/** Sends requests over so many connections in all, until one is answered. @throws Error when one failed. */
export async function load(
  { token, servers, postmaster }: Target,
  requests: readonly string[],
  connections: number,
  seconds: number,
  header = 'Accept: application/json',
): Promise<Cost> {
  const file = join(tmpdir(), `todo-bench-${process.pid}`);
  writeFileSync(file, requests.join('\n'));
  const script = fileURLToPath(new URL('wrk.lua', import.meta.url));
  const each = Math.ceil(connections / servers.length);
  const words = `-c ${cores?.[2]} wrk -t1 -c${each} -d${seconds}s --timeout 60s -s ${script}`.split(' ');
  const headers = [header, `Authorization: Bearer ${token}`, 'Content-Type: application/json'];
  words.push(...headers.flatMap((line) => ['-H', line]));
  const wrk = async (url: string): Promise<Result> => {
    const env = { ...process.env, BENCH_REQUESTS: file };
    const { stdout } = await promisify(execFile)('taskset', [...words, `${url}/`], { env });
    return JSON.parse(stdout.slice(stdout.indexOf('{')));
  };
  const used = () => servers.reduce((sum, { pid }) => sum + processorSeconds(pid), 0);
  const usedBelow = () => (postmaster === undefined ? 0 : familySeconds(postmaster));
  const before = { service: used(), postgres: usedBelow() };
  const results = await Promise.all(servers.map(({ baseUrl }) => wrk(baseUrl)));
  const [service, postgres] = [used() - before.service, usedBelow() - before.postgres];
  rmSync(file);
  const total = (figure: keyof Result) => results.reduce((sum, result) => sum + result[figure], 0);
  const [answered, failed] = [total('requests'), total('failed')];
  if (failed > 0) throw new Error(`${failed} of ${answered} requests failed`);
  if (answered === 0) return load({ token, servers, postmaster }, requests, connections, seconds * 2, header);
  return {
    service: (service * 1e6) / answered,
    postgres: (postgres * 1e6) / answered,
    bytes: total('bytes') / answered,
    perSecond: (answered * results.length) / total('seconds'),
  };
}
