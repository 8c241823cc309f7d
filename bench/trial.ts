import { DatabaseSync } from 'node:sqlite';
import { checkAnswers } from './check.ts';
import { coreTimes, LOAD_CORE, SERVER_CORE } from './cores.ts';
import type { Prepared } from './kit.ts';
import type { LoadResult } from './load/load.ts';
import { cpuMicroseconds, memoryMegabytes, type Running, startServer } from './process.ts';
import type { Measurement } from './results.ts';
import type { Scenario } from './scenarios.ts';
import type { Durability, Server } from './servers.ts';

/** One server in one scenario, once. */
export interface Trial {
  readonly scenario: Scenario;
  readonly server: Server;
  readonly durability: Durability;
}

/**
 * After so many seconds of full load the compilers of Node.js and Bun have little left to do. A request to the service
 * costs 125 µs of CPU in the first second, 59, 31, and 26 to 33 from then on; to Fastify 175, 143, 114, and 86 to 95.
 */
export const WARM_UP_SECONDS = 3;

/** Starts the server, looks at its answers, warms it up, measures, and stops it. */
export async function runTrial(trial: Trial, prepared: Prepared, seconds: number): Promise<Measurement> {
  const { scenario, server, durability } = trial;
  const { load, tokens, requests } = prepared;
  const surroundings = { ...(await prepared.surroundings()), durability };
  const token = await tokens.make({ name: 'ada', role: 'editor' });
  const running: Running[] = [];
  try {
    for (let instance = 0; instance < server.instances; instance += 1) {
      const core = instance === 0 ? SERVER_CORE : LOAD_CORE;
      running.push(await startServer(server, surroundings, { core, token }));
    }
    for (const { port } of running) await checkAnswers(server, port, requests, tokens);
    const drive = async (forSeconds: number) => {
      const connections = Math.ceil(scenario.connections / running.length);
      return together(await Promise.all(running.map(({ port }) => load.run(port, connections, forSeconds))));
    };
    const warm = await drive(WARM_UP_SECONDS);
    const before = usage(running);
    const result = await drive(seconds);
    const used = usedSince(before, usage(running));
    if (result.requests === 0) throw new Error(`Cannot measure ${server.name}: it answered nothing`);
    const memory = memoryMegabytes(running[0]?.pid ?? 0);
    for (const one of running) await one.stop();
    if (scenario.kind === 'create') {
      const created = [warm, result].reduce((sum, { requests, failed }) => sum + requests - failed, 0);
      findCreated(surroundings.database, scenario.todos + created, server);
    }
    return {
      scenario: scenario.name,
      server: server.name,
      ...(scenario.writes ? { durability } : {}),
      requests: result.requests,
      failed: result.failed,
      requestsPerSecond: result.requests / result.seconds,
      p50: result.p50,
      p99: result.p99,
      cpu: used.cpu === undefined ? undefined : used.cpu / result.requests,
      foreign: used.foreign,
      memory,
    };
  } finally {
    for (const one of running) await one.stop();
  }
}

/** Microseconds of CPU, of servers and of their core. */
export interface Usage {
  readonly at: number;
  readonly servers: number | undefined;
  readonly core: number | undefined;
}

export function usage(running: readonly Running[]): Usage {
  const times = running.map(({ pid }) => cpuMicroseconds(pid)).filter((time) => time !== undefined);
  return {
    at: performance.now(),
    servers: times.length < running.length ? undefined : times.reduce((sum, time) => sum + time, 0),
    core: running.length === 1 && SERVER_CORE !== undefined ? coreTimes(SERVER_CORE)?.busy : undefined,
  };
}

/** What the servers used between two looks, and the share of their core, 0 to 1, that something else used. */
export function usedSince(before: Usage, after: Usage) {
  if (before.servers === undefined || after.servers === undefined) return {};
  const cpu = after.servers - before.servers;
  if (before.core === undefined || after.core === undefined) return { cpu };
  const elapsed = (after.at - before.at) * 1000;
  return { cpu, foreign: Math.max(0, after.core - before.core - cpu) / elapsed };
}

/** Loads that ran side by side, as one; the slower percentiles stand for all. */
function together(results: readonly LoadResult[]): LoadResult {
  return {
    requests: results.reduce((sum, { requests }) => sum + requests, 0),
    failed: results.reduce((sum, { failed }) => sum + failed, 0),
    seconds: Math.max(...results.map(({ seconds }) => seconds)),
    p50: Math.max(...results.map(({ p50 }) => p50)),
    p99: Math.max(...results.map(({ p99 }) => p99)),
  };
}

/** A todo whose creation was answered is in the file. */
function findCreated(path: string, expected: number, { name }: Server): void {
  const database = new DatabaseSync(path, { readOnly: true });
  const count = Number(database.prepare('SELECT count(*) AS count FROM todos').get()?.count);
  database.close();
  if (count < expected)
    throw new Error(`Cannot measure ${name}: it answered ${expected} todos and kept ${count}`);
}
