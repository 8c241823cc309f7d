import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { familySeconds, threadSeconds } from '../test/support/process-figures.ts';
import { outputOf } from '../tools/command.ts';
import type { Cost } from './figures.ts';
import type { Started } from './products.ts';
import type { Load } from './works.ts';

/** Two cores that this process may use, for the servers and for the load. */
export const cores = /: (\d+)[-,](\d+)/.exec(outputOf('taskset', '-cp', `${process.pid}`) ?? '');

/** A server that is asked, or its instances, and the first process of its PostgreSQL. */
export interface Target {
  readonly authorization: string;
  readonly instances: readonly Started[];
  /** The server's words for a request. */
  readonly say: (request: string) => string;
  /** It refuses some requests that come at once, to be sent again: their cost is that of those that it answers. */
  readonly mayRefuse: boolean;
  readonly postmaster?: number | undefined;
}

type Result = Readonly<Record<'requests' | 'seconds' | 'bytes' | 'failed', number>>;

const SCRIPT = fileURLToPath(new URL('wrk.lua', import.meta.url));

/** Sends requests for so many whole seconds, or longer, until one is answered. @throws Error when one failed that must not. */
export async function load(
  target: Target,
  { requests, header, connections, perSecond }: Load,
  seconds: number,
) {
  const { authorization, instances, say, mayRefuse, postmaster } = target;
  const file = join(tmpdir(), `todo-bench-${process.pid}`);
  writeFileSync(file, requests.map(say).join('\n'));
  const env = {
    ...process.env,
    BENCH_REQUESTS: file,
    BENCH_PORTS: instances.map(({ baseUrl }) => new URL(baseUrl).port).join(' '),
    ...(perSecond !== undefined && { BENCH_PAUSE_MS: String((connections * 1_000) / perSecond) }),
  };
  const headers = [
    'Accept: application/json',
    `Authorization: ${authorization}`,
    'Content-Type: application/json',
  ];
  if (header !== undefined) headers.push(header);
  const words =
    `-c ${cores?.[2]} wrk -t${instances.length} -c${connections} --timeout 60s -s ${SCRIPT}`.split(' ');
  words.push(...headers.flatMap((line) => ['-H', line]));
  const used = () => [
    instances.reduce((sum, { pid }) => sum + threadSeconds(pid), 0),
    postmaster === undefined ? 0 : familySeconds(postmaster),
  ];
  for (let wanted = seconds; ; wanted *= 2) {
    const before = used();
    const { stdout } = await promisify(execFile)(
      'taskset',
      [...words, `-d${wanted}s`, `${instances[0]?.baseUrl}/`],
      {
        env,
      },
    );
    const after = used();
    const { failed, ...result }: Result = JSON.parse(stdout.slice(stdout.indexOf('{')));
    if (failed > 0 && !mayRefuse) throw new Error(`${failed} of ${result.requests} requests failed`);
    const answered = result.requests - failed;
    if (answered === 0) continue;
    rmSync(file);
    const [service, postgres] = after.map((sum, index) => ((sum - (before[index] ?? 0)) * 1e6) / answered);
    const cost: Cost = {
      service: service ?? 0,
      postgres: postgres ?? 0,
      bytes: result.bytes / answered,
      perSecond: answered / result.seconds,
    };
    return cost;
  }
}
