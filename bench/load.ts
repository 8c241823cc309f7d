import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { familySeconds, threadSeconds } from '../test/support/process-figures.ts';
import { outputOf } from '../tools/command.ts';
import type { Cost } from './figures.ts';
import type { Load } from './works.ts';

/** Two cores that this process may use, for the servers and for the load. */
export const cores = /: (\d+)[-,](\d+)/.exec(outputOf('taskset', '-cp', `${process.pid}`) ?? '');

/** A server that is asked, other processes that serve the same database, and the first process of its PostgreSQL. */
export interface Target {
  readonly token: string;
  readonly baseUrl: string;
  readonly pid: number;
  readonly others: readonly number[];
  readonly postmaster?: number | undefined;
}

type Result = Readonly<Record<'requests' | 'seconds' | 'bytes' | 'failed', number>>;

const SCRIPT = fileURLToPath(new URL('wrk.lua', import.meta.url));

/** Sends requests for so many whole seconds, or longer, until one is answered. @throws Error when one failed. */
export async function load(
  target: Target,
  { requests, header, connections, perSecond }: Load,
  seconds: number,
) {
  const { token, baseUrl, pid, others, postmaster } = target;
  const file = join(tmpdir(), `todo-bench-${process.pid}`);
  writeFileSync(file, requests.join('\n'));
  const env = {
    ...process.env,
    BENCH_REQUESTS: file,
    ...(perSecond !== undefined && { BENCH_PAUSE_MS: String((connections * 1_000) / perSecond) }),
  };
  const headers = [
    'Accept: application/json',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
  ];
  if (header !== undefined) headers.push(header);
  const words = `-c ${cores?.[2]} wrk -t1 -c${connections} --timeout 60s -s ${SCRIPT}`.split(' ');
  words.push(...headers.flatMap((line) => ['-H', line]));
  const used = () => [
    threadSeconds(pid),
    postmaster === undefined ? 0 : familySeconds(postmaster),
    others.reduce((sum, other) => sum + threadSeconds(other), 0) / Math.max(1, others.length),
  ];
  for (let wanted = seconds; ; wanted *= 2) {
    const before = used();
    const { stdout } = await promisify(execFile)('taskset', [...words, `-d${wanted}s`, `${baseUrl}/`], {
      env,
    });
    const after = used();
    const { requests: answered, ...result }: Result = JSON.parse(stdout.slice(stdout.indexOf('{')));
    if (result.failed > 0) throw new Error(`${result.failed} of ${answered} requests failed`);
    if (answered === 0) continue;
    rmSync(file);
    const [service, postgres, rest] = after.map(
      (sum, index) => ((sum - (before[index] ?? 0)) * 1e6) / answered,
    );
    const cost: Cost = {
      service: service ?? 0,
      postgres: postgres ?? 0,
      others: rest ?? 0,
      bytes: result.bytes / answered,
      perSecond: answered / result.seconds,
    };
    return cost;
  }
}
