import { spawnSync } from 'node:child_process';
import type { TodoRequest } from '../requests.ts';
import { openAutocannon } from './autocannon.ts';
import { openWrk } from './wrk.ts';

export interface Load {
  /** An example of what `run` runs, without this machine's paths. */
  readonly command: string;
  /** Sends requests over `connections` for so many seconds, the next one on each as soon as one is answered. */
  run(port: number, connections: number, seconds: number): Promise<LoadResult>;
}

export interface LoadResult {
  /** Answered, whatever the answer. */
  readonly requests: number;
  /** Without an answer, or with one that refuses what should be done or does not refuse as it should. */
  readonly failed: number;
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** The status of requests that must all be refused in the same way; undefined where an answer from 400 is a failure. */
export function expectedError(requests: readonly TodoRequest[]): number | undefined {
  const [status = 0, ...others] = new Set(requests.map(({ expected }) => expected.status));
  return status >= 400 && others.length === 0 ? status : undefined;
}

/** Opens the load for a scenario's requests: a tool, and how to tell it a list of requests. */
export type OpenLoad = (requests: readonly TodoRequest[], folder: string) => Load;

/** `wrk` where it is installed: it costs less per request, so that a fast server does not wait for its load. */
export function chooseLoad(wanted: 'wrk' | 'autocannon' | undefined): {
  readonly name: string;
  open: OpenLoad;
} {
  const installed = spawnSync('wrk', ['--version']).error === undefined;
  if (wanted === 'wrk' && !installed) throw new Error('Cannot use wrk: it is not installed');
  const name = wanted ?? (installed ? 'wrk' : 'autocannon');
  return { name, open: name === 'wrk' ? openWrk : openAutocannon };
}
