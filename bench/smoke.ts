import { checkAnswers } from './check.ts';
import type { Kit, Prepared } from './kit.ts';
import { LOAD_CORE, SERVER_CORE } from './machine.ts';
import { startServer } from './process.ts';
import type { Scenario } from './scenarios.ts';
import type { Server } from './servers.ts';

/** Seconds of load on a machine that is busy with something else, before its silence is a failure. */
const MAX_WAIT_SECONDS = 60;

/**
 * Every server answers each scenario correctly, and a moment of load finds no failure of it. Nothing is timed; each core
 * has one server at a time. The result is the exit code.
 */
export async function smoke(
  scenarios: readonly Scenario[],
  servers: readonly Server[],
  kit: Kit,
): Promise<number> {
  const pairs = scenarios.flatMap((scenario) =>
    servers.filter(({ name }) => scenario.servers.includes(name)).map((server) => ({ scenario, server })),
  );
  const left = pairs.values();
  const loaded = new Set<Server>();
  let failed = 0;
  const work = async (core: number | undefined) => {
    for (const { scenario, server } of left) {
      try {
        const prepared = await kit.prepare(scenario);
        await using running = await startServer(server, prepared, core);
        await checkAnswers(server, running.port, prepared);
        if (!loaded.has(server)) await loadBriefly(prepared, running.port);
        loaded.add(server);
        process.stdout.write(`ok    ${scenario.name} ${server.name}\n`);
      } catch (error) {
        failed += 1;
        const reason = error instanceof Error ? error.message : error;
        process.stdout.write(`FAIL  ${scenario.name} ${server.name}: ${reason}\n`);
      }
    }
  };
  await Promise.all([SERVER_CORE, LOAD_CORE].map(work));
  process.stdout.write(`${pairs.length - failed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

async function loadBriefly({ load }: Prepared, port: number): Promise<void> {
  for (let seconds = 1; seconds < MAX_WAIT_SECONDS; seconds *= 2) {
    const { requests, failed } = await load(port, 8, seconds);
    if (failed > 0) throw new Error(`${failed} of ${requests} requests failed`);
    if (requests > 0) return;
  }
  throw new Error(`nothing answered in ${MAX_WAIT_SECONDS} s of load`);
}
