import { DatabaseSync } from 'node:sqlite';
import { processorSeconds } from '../test/process-figures.ts';
import { steadily } from '../test/steadily.ts';
import { randomFrom } from '../test/storage/random.ts';
import { checkAnswers } from './check.ts';
import type { Kit, Prepared } from './kit.ts';
import { memoryMegabytes, SERVER_CORE } from './machine.ts';
import { startServer } from './process.ts';
import { ask, create } from './requests.ts';
import { ONE, type Scenario } from './scenarios.ts';
import type { Server } from './servers.ts';
import type { Load, LoadResult } from './wrk.ts';

/**
 * After so many seconds of full load the compilers of Node.js and Bun have little left to do. A request to the service
 * costs 125 µs of CPU in the first second, 59, 31, and 26 to 33 from then on; to Fastify 175, 143, 114, and 86 to 95.
 */
const WARM_UP_SECONDS = 3;

/**
 * While the others have their turns a server stands idle for many seconds, and V8 gives back memory and compiled code: the
 * first second after that costs up to twice what the next one does.
 */
const AWAKENING_SECONDS = 1;

/** While the list is read: connections that read one todo, and creates a second. */
const READERS = 8;
const CREATES_PER_SECOND = 10;

/** What one server in one scenario gave in one round; NaN where this machine cannot tell. */
export interface Measurement {
  readonly scenario: string;
  readonly server: string;
  readonly requestsPerSecond: number;
  readonly failed: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Microseconds of all threads of the server process, per request. */
  readonly cpu: number;
  /** Megabytes (PSS) at its end. */
  readonly memory: number;
  /** Milliseconds from the start of the process to its first answer. */
  readonly start: number;
}

export interface Flags {
  /** Times that each server is measured. */
  readonly rounds: number;
  /** Of load in each measurement. */
  readonly seconds: number;
  readonly profile?: string | undefined;
}

export type Say = (line: string) => void;

/**
 * Opens all servers of a scenario and measures them in turns, in another order each round, so that what else the
 * machine does hits all of them alike. A server that fails is said, and none of its measurements is given.
 */
export async function measure(
  scenario: Scenario,
  servers: readonly Server[],
  kit: Kit,
  flags: Flags,
  say: Say,
): Promise<readonly Measurement[]> {
  const measured = new Map(servers.map(({ name }) => [name, [] as Measurement[]]));
  const random = randomFrom(Date.now());
  const seconds = Math.max(flags.seconds, scenario.atLeastSeconds);
  const open = new Map<string, Candidate>();
  const attempt = async (name: string, step: () => Promise<void>) => {
    try {
      await step();
    } catch (error) {
      measured.delete(name);
      say(`${scenario.name} ${name} FAILED: ${error instanceof Error ? error.message : error}`);
    }
  };
  for (const server of servers) {
    await attempt(server.name, async () => {
      open.set(server.name, await openCandidate(scenario, server, kit, flags.profile));
    });
  }
  for (let round = 0; round < flags.rounds; round += 1) {
    for (const [name, candidate] of shuffle(open, random)) {
      if (!measured.has(name)) continue;
      await attempt(name, async () => {
        const measurement = await candidate.measure(seconds);
        const { requestsPerSecond, cpu, failed } = measurement;
        measured.get(name)?.push(measurement);
        say(
          `${scenario.name} ${name}: ${Math.round(requestsPerSecond)}/s, ${cpu.toFixed(1)} µs${failed > 0 ? `, ${failed} FAILED` : ''}`,
        );
      });
    }
  }
  for (const [name, candidate] of open) await attempt(name, () => candidate.end());
  return [...measured.values()].flat();
}

function shuffle<T>(values: Iterable<T>, random: () => number): readonly T[] {
  return [...values]
    .map((value) => ({ value, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value);
}

/** A server that is warm and waits to be measured, as often as one likes. */
interface Candidate {
  measure(seconds: number): Promise<Measurement>;
  /** @throws Error when a todo that it answered is not in its database. */
  end(): Promise<void>;
}

async function openCandidate(
  scenario: Scenario,
  server: Server,
  kit: Kit,
  profile: string | undefined,
): Promise<Candidate> {
  const prepared = await kit.prepare(scenario);
  const oneLoad = (await kit.prepare(ONE)).load;
  const running = await startServer(server, prepared, SERVER_CORE, profile);
  let todos = scenario.todos;
  const drive = async (seconds: number) => {
    const { port } = running;
    const result = scenario.busy
      ? await readBusily(port, scenario.connections, seconds, prepared, oneLoad)
      : await prepared.load(port, scenario.connections, seconds);
    if (result.requests === 0) throw new Error('it answered nothing');
    todos += result.requests - result.failed;
    return result;
  };
  try {
    await checkAnswers(server, running.port, prepared);
    await drive(WARM_UP_SECONDS);
  } catch (error) {
    await running[Symbol.asyncDispose]();
    throw error;
  }
  return {
    async measure(seconds) {
      await drive(AWAKENING_SECONDS);
      const before = processorMicroseconds(running.pid);
      const { requests, failed, p50, p99, seconds: took } = await drive(seconds);
      const cpu = processorMicroseconds(running.pid) - before;
      return {
        scenario: scenario.name,
        server: server.name,
        requestsPerSecond: requests / took,
        failed,
        p50,
        p99,
        // Of two kinds of request together it says nothing.
        cpu: scenario.busy ? Number.NaN : cpu / requests,
        memory: memoryMegabytes(running.pid),
        start: running.startMs,
      };
    },
    async end() {
      await running[Symbol.asyncDispose]();
      if (scenario.kind === 'create') findCreated(running.database, todos);
    },
  };
}

/** Reads the list over and over while todos are created, and one todo meanwhile, of which the percentiles are. */
async function readBusily(
  port: number,
  connections: number,
  seconds: number,
  { load, editor }: Prepared,
  oneLoad: Load,
): Promise<LoadResult> {
  const [lists, ones, creates] = await Promise.all([
    load(port, connections, seconds),
    oneLoad(port, READERS, seconds),
    steadily(CREATES_PER_SECOND, seconds, (nth) => ask(port, create(nth, editor))),
  ]);
  const refused = creates.filter(({ status }) => status !== 201).length;
  if (ones.requests === 0) throw new Error('it answered nothing beside the list');
  return { ...lists, p50: ones.p50, p99: ones.p99, failed: lists.failed + ones.failed + refused };
}

/** NaN where the system does not tell. */
function processorMicroseconds(pid: number): number {
  return process.platform === 'linux' ? processorSeconds(pid) * 1e6 : Number.NaN;
}

/** A todo whose creation was answered is in the file. */
function findCreated(path: string, expected: number): void {
  using database = new DatabaseSync(path, { readOnly: true });
  const count = Number(database.prepare('SELECT count(*) AS count FROM todos').get()?.count);
  if (count < expected) throw new Error(`it answered ${expected} todos and kept ${count}`);
}
