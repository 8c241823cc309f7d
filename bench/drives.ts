import { ask } from './ask.ts';
import { checkAnswers } from './check.ts';
import type { Kit, Prepared } from './kit.ts';
import { memoryMegabytes, startServer } from './process.ts';
import { create } from './requests.ts';
import { type Measurement, median } from './results.ts';
import { scenarioNamed } from './scenarios.ts';
import { type Trial, usage, usedSince } from './trial.ts';

/** Starts of one trial; their median counts. */
const STARTS = 3;

/** Milliseconds between two writes: ten a second. */
const WRITE_INTERVAL_MS = 100;

/** Connections that read one todo while the list is read and written. */
const READERS = 8;

/** From the start of the process to the first byte of an answer to an authenticated request. */
export async function measureStart(
  { scenario, server, durability }: Trial,
  prepared: Prepared,
): Promise<Measurement> {
  const token = await prepared.tokens.make({ name: 'ada', role: 'editor' });
  const times: number[] = [];
  let memory: number | undefined;
  for (let start = 0; start < STARTS; start += 1) {
    const surroundings = { ...(await prepared.surroundings()), durability };
    const running = await startServer(server, surroundings, { token });
    times.push(running.startMilliseconds);
    memory = memoryMegabytes(running.pid);
    await running.stop();
  }
  return {
    scenario: scenario.name,
    server: server.name,
    requests: STARTS,
    failed: 0,
    start: median(times),
    memory,
  };
}

/**
 * Reads the whole list over and over while todos are created, and one todo meanwhile. `requestsPerSecond` is of
 * lists, the percentiles are those of one todo.
 */
export async function measureBusyList(
  { scenario, server, durability }: Trial,
  prepared: Prepared,
  kit: Kit,
  seconds: number,
): Promise<Measurement> {
  const { load: oneLoad } = await kit.prepare(scenarioNamed('one'));
  const surroundings = { ...(await prepared.surroundings()), durability };
  const token = await prepared.tokens.make({ name: 'ada', role: 'editor' });
  const running = await startServer(server, surroundings, { token });
  try {
    await checkAnswers(server, running.port, prepared.requests, prepared.tokens);
    const drive = (forSeconds: number) =>
      Promise.all([
        prepared.load.run(running.port, scenario.connections, forSeconds),
        oneLoad.run(running.port, READERS, forSeconds),
        writeFor(forSeconds, running.port, token),
      ]);
    await drive(1);
    const before = usage([running]);
    const [lists, ones, failedWrites] = await drive(seconds);
    const used = usedSince(before, usage([running]));
    if (lists.requests === 0 || ones.requests === 0) {
      throw new Error(
        `Cannot measure ${server.name}: it answered ${lists.requests} lists, ${ones.requests} todos`,
      );
    }
    const requests = lists.requests + ones.requests;
    return {
      scenario: scenario.name,
      server: server.name,
      requests,
      failed: lists.failed + ones.failed + failedWrites,
      requestsPerSecond: lists.requests / lists.seconds,
      p50: ones.p50,
      p99: ones.p99,
      cpu: used.cpu === undefined ? undefined : used.cpu / requests,
      foreign: used.foreign,
      memory: memoryMegabytes(running.pid),
    };
  } finally {
    await running.stop();
  }
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
