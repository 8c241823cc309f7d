import { ask } from './ask.ts';
import type { Kit } from './kit.ts';
import type { Load, LoadResult } from './load/load.ts';
import type { Running } from './process.ts';
import { create } from './requests.ts';
import { type Scenario, scenarioNamed } from './scenarios.ts';

/** Milliseconds between two writes: ten a second. */
const WRITE_INTERVAL_MS = 100;

/** Connections that read one todo while the list is read and written. */
const READERS = 8;

/** What servers answered for some seconds. */
export interface Driven {
  readonly requests: number;
  readonly failed: number;
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Keeps servers busy for so many seconds. */
export type Drive = (running: readonly Running[], seconds: number) => Promise<Driven>;

/** How a scenario keeps its servers busy. */
export async function driveOf(scenario: Scenario, kit: Kit): Promise<Drive> {
  const { load, tokens } = await kit.prepare(scenario);
  if (scenario.drive !== 'busy-list') return loadBy(load, scenario.connections);
  const { load: oneLoad } = await kit.prepare(scenarioNamed('one'));
  const token = await tokens.make({ name: 'ada', role: 'editor' });
  return listBusily(load, scenario.connections, oneLoad, token);
}

/** The connections are shared among the servers. */
function loadBy(load: Load, connections: number): Drive {
  return async (running, seconds) => {
    const each = Math.ceil(connections / running.length);
    return together(await Promise.all(running.map(({ port }) => load.run(port, each, seconds))));
  };
}

/**
 * Reads the whole list over and over while todos are created, and one todo meanwhile. `requestsPerSecond` is of
 * lists, the percentiles are those of one todo.
 */
function listBusily(listLoad: Load, connections: number, oneLoad: Load, token: string): Drive {
  return async ([running], seconds) => {
    const port = running?.port ?? 0;
    const [lists, ones, failedWrites] = await Promise.all([
      listLoad.run(port, connections, seconds),
      oneLoad.run(port, READERS, seconds),
      writeFor(seconds, port, token),
    ]);
    if (lists.requests === 0 || ones.requests === 0) {
      throw new Error(`Cannot measure: ${lists.requests} lists and ${ones.requests} todos were answered`);
    }
    return {
      requests: lists.requests + ones.requests,
      failed: lists.failed + ones.failed + failedWrites,
      requestsPerSecond: lists.requests / lists.seconds,
      p50: ones.p50,
      p99: ones.p99,
    };
  };
}

/** Loads that ran side by side, as one; the slower percentiles stand for all. */
function together(results: readonly LoadResult[]): Driven {
  const requests = results.reduce((sum, one) => sum + one.requests, 0);
  return {
    requests,
    failed: results.reduce((sum, { failed }) => sum + failed, 0),
    requestsPerSecond: requests / Math.max(...results.map(({ seconds }) => seconds)),
    p50: Math.max(...results.map(({ p50 }) => p50)),
    p99: Math.max(...results.map(({ p99 }) => p99)),
  };
}

/** Creates ten todos a second, whether or not the last one has been answered; the result counts failures. */
async function writeFor(seconds: number, port: number, token: string): Promise<number> {
  const answers: Promise<boolean>[] = [];
  for (let index = 0; index * WRITE_INTERVAL_MS < seconds * 1000; index += 1) {
    answers.push(write(index, port, token));
    await new Promise((resolve) => setTimeout(resolve, WRITE_INTERVAL_MS));
  }
  return (await Promise.all(answers)).filter((created) => !created).length;
}

async function write(index: number, port: number, token: string): Promise<boolean> {
  const { status } = await ask(port, create(index, token));
  return status === 201;
}
