import { checkAnswers } from './check.ts';
import type { Kit, Prepared } from './kit.ts';
import { LOAD_CORE, SERVER_CORE } from './machine.ts';
import { startServer } from './process.ts';
import type { Scenario } from './scenarios.ts';
import { type Server, serverNamed } from './servers.ts';

/** Seconds of load on a machine that is busy with something else, before its silence is a failure. */
const MAX_WAIT_SECONDS = 60;

/**
 * Every server answers each scenario correctly, and a moment of load finds no failure. Nothing is timed. A server
 * is started once for the scenarios that agree in what it is told, and each core has one at a time. The result is
 * the exit code.
 */
export async function smoke(
  scenarios: readonly Scenario[],
  servers: readonly Server[],
  kit: Kit,
): Promise<number> {
  const pairs = scenarios.flatMap((scenario) =>
    servers.filter(({ name }) => scenario.servers.includes(name)).map(({ name }) => ({ scenario, name })),
  );
  const groups = Map.groupBy(pairs, ({ name, scenario: { algorithm, database, todos, synced } }) =>
    [name, algorithm, database, todos, ...(synced ? [] : ['unsynced'])].join(' '),
  );
  const left = groups.entries();
  const loaded = new Set<string>();
  let failed = 0;

  async function smokeGroup(name: string, group: readonly Scenario[], core: number | undefined) {
    const [first] = group;
    if (first === undefined) return;
    const server = serverNamed(name);
    const running = await startServer(server, await kit.prepare(first), core);
    try {
      for (const scenario of group) {
        const prepared = await kit.prepare(scenario);
        await checkAnswers(server, running.port, prepared);
        if (!loaded.has(name)) await loadBriefly(prepared, running.port);
        loaded.add(name);
      }
    } finally {
      await running.stop();
    }
  }

  const work = async (core: number | undefined) => {
    for (const [title, group] of left) {
      const all = group.map(({ scenario }) => scenario);
      try {
        await smokeGroup(group[0]?.name ?? '', all, core);
        process.stdout.write(`ok    ${title}: ${all.map(({ name }) => name).join(', ')}\n`);
      } catch (error) {
        failed += 1;
        process.stdout.write(`FAIL  ${title}: ${error instanceof Error ? error.message : error}\n`);
      }
    }
  };
  await Promise.all([SERVER_CORE, LOAD_CORE].map(work));
  process.stdout.write(`${groups.size - failed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

async function loadBriefly({ load }: Prepared, port: number): Promise<void> {
  for (let seconds = 1; seconds < MAX_WAIT_SECONDS; seconds *= 2) {
    const { requests, failed } = await load.run(port, 8, seconds);
    if (failed > 0) throw new Error(`${failed} of ${requests} requests failed`);
    if (requests > 0) return;
  }
  throw new Error(`nothing answered in ${MAX_WAIT_SECONDS} s of load`);
}
