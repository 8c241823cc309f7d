import { DatabaseSync } from 'node:sqlite';
import { checkAnswers } from './check.ts';
import { coreTimes, LOAD_CORE, SERVER_CORE } from './cores.ts';
import { type Drive, driveOf } from './drives.ts';
import type { Kit, Prepared } from './kit.ts';
import { cpuMicroseconds, memoryMegabytes, type Running, startServer } from './process.ts';
import type { Measurement } from './results.ts';
import type { Scenario } from './scenarios.ts';
import type { Durability, Server } from './servers.ts';

/** One server in one scenario, from its start to its end. */
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

/**
 * While the others have their turns a server stands idle for many seconds, and V8 gives back memory and compiled code: the
 * first second after that costs up to twice what the next one does.
 */
export const AWAKENING_SECONDS = 1;

/** A trial that has begun: its server waits to be measured, as often as one likes. */
export interface OpenTrial {
  readonly trial: Trial;
  measure(seconds: number): Promise<Measurement>;
  /** Stops the server. @throws when a todo that it answered is not in its database. */
  end(): Promise<void>;
}

/** Starts the server, looks at its answers, and warms it up. */
export async function openTrial(trial: Trial, kit: Kit): Promise<OpenTrial> {
  const prepared = await kit.prepare(trial.scenario);
  if (trial.scenario.drive === 'start') {
    return { trial, measure: () => measureStart(trial, prepared), end: async () => {} };
  }
  return openLoaded(trial, prepared, await driveOf(trial.scenario, kit));
}

async function openLoaded(trial: Trial, prepared: Prepared, drive: Drive): Promise<OpenTrial> {
  const { scenario, server, durability } = trial;
  const { tokens, requests } = prepared;
  const surroundings = { ...(await prepared.surroundings()), durability };
  const token = await tokens.make({ name: 'ada', role: 'editor' });
  await using starting = new AsyncDisposableStack();
  const running: Running[] = [];
  for (let instance = 0; instance < server.instances; instance += 1) {
    const core = instance === 0 ? SERVER_CORE : LOAD_CORE;
    const started = await startServer(server, surroundings, { core, token });
    starting.defer(() => started.stop());
    running.push(started);
  }
  for (const { port } of running) await checkAnswers(server, port, requests, tokens);
  let todos = scenario.todos;
  const driven = async (seconds: number) => {
    const result = await drive(running, seconds);
    todos += result.requests - result.failed;
    return result;
  };
  await driven(WARM_UP_SECONDS);
  const started = starting.move();
  return {
    trial,
    async measure(seconds) {
      await driven(AWAKENING_SECONDS);
      const before = usage(running);
      const result = await driven(seconds);
      const { cpu, foreign } = usedSince(before, usage(running));
      if (result.requests === 0) throw new Error(`Cannot measure ${server.name}: it answered nothing`);
      return {
        scenario: scenario.name,
        server: server.name,
        ...(scenario.writes ? { durability } : {}),
        ...result,
        cpu: cpu === undefined ? undefined : cpu / result.requests,
        foreign,
        memory: memoryMegabytes(running[0]?.pid ?? 0),
      };
    },
    async end() {
      await started.disposeAsync();
      if (scenario.kind === 'create') findCreated(surroundings.database, todos, server);
    },
  };
}

/** From the start of the process to the first byte of an answer to an authenticated request. */
async function measureStart(
  { scenario, server, durability }: Trial,
  prepared: Prepared,
): Promise<Measurement> {
  const token = await prepared.tokens.make({ name: 'ada', role: 'editor' });
  const surroundings = { ...(await prepared.surroundings()), durability };
  const running = await startServer(server, surroundings, { token });
  const memory = memoryMegabytes(running.pid);
  await running.stop();
  const start = running.startMilliseconds;
  return { scenario: scenario.name, server: server.name, requests: 1, failed: 0, start, memory };
}

/** Microseconds of CPU, of servers and of their core. */
interface Usage {
  readonly at: number;
  readonly servers: number | undefined;
  readonly core: number | undefined;
}

function usage(running: readonly Running[]): Usage {
  const times = running.map(({ pid }) => cpuMicroseconds(pid)).filter((time) => time !== undefined);
  return {
    at: performance.now(),
    servers: times.length < running.length ? undefined : times.reduce((sum, time) => sum + time, 0),
    core: running.length === 1 && SERVER_CORE !== undefined ? coreTimes(SERVER_CORE)?.busy : undefined,
  };
}

/** What the servers used between two looks, and the share of their core, 0 to 1, that something else used. */
function usedSince(before: Usage, after: Usage): { readonly cpu?: number; readonly foreign?: number } {
  if (before.servers === undefined || after.servers === undefined) return {};
  const cpu = after.servers - before.servers;
  if (before.core === undefined || after.core === undefined) return { cpu };
  const elapsed = (after.at - before.at) * 1000;
  return { cpu, foreign: Math.max(0, after.core - before.core - cpu) / elapsed };
}

/** A todo whose creation was answered is in the file. */
function findCreated(path: string, expected: number, { name }: Server): void {
  const database = new DatabaseSync(path, { readOnly: true });
  const count = Number(database.prepare('SELECT count(*) AS count FROM todos').get()?.count);
  database.close();
  if (count < expected)
    throw new Error(`Cannot measure ${name}: it answered ${expected} todos and kept ${count}`);
}
