import { checkAnswers } from './check.ts';
import { LOAD_CORE, SERVER_CORE } from './cores.ts';
import type { Kit, Prepared } from './kit.ts';
import { startServer } from './process.ts';
import type { Scenario } from './scenarios.ts';
import type { Trial } from './trial.ts';

/** Seconds of load on a machine that is busy with something else, before its silence is a failure. */
const MAX_WAIT_SECONDS = 60;

/**
 * Every server answers each scenario correctly, and a moment of load finds no failure. Nothing is timed. A server
 * is started once for the scenarios that agree in what it is told, and each core has one at a time. The result is
 * the exit code.
 */
export async function smoke(trials: readonly Trial[], kit: Kit): Promise<number> {
  const groups = [
    ...Map.groupBy(trials, ({ server, scenario: { algorithm, database, todos } }) =>
      [server.name, algorithm, database, todos].join(' '),
    ).entries(),
  ];
  const left = groups.values();
  const loaded = new Set<string>();
  let failed = 0;
  const work = async (core: number | undefined) => {
    for (const [name, group] of left) {
      try {
        await smokeGroup(group, kit, loaded, core);
        const names = scenariosOf(group).map((scenario) => scenario.name);
        process.stdout.write(`ok    ${name}: ${names.join(', ')}\n`);
      } catch (error) {
        failed += 1;
        process.stdout.write(`FAIL  ${name}: ${error instanceof Error ? error.message : error}\n`);
      }
    }
  };
  await Promise.all([SERVER_CORE, LOAD_CORE].map(work));
  process.stdout.write(`${groups.length - failed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

async function smokeGroup(
  group: readonly Trial[],
  kit: Kit,
  loaded: Set<string>,
  core: number | undefined,
): Promise<void> {
  const [first] = group;
  if (first === undefined) return;
  const { server } = first;
  const { surroundings, tokens } = await kit.prepare(first.scenario);
  const token = await tokens.make({ name: 'ada', role: 'editor' });
  const told = { ...(await surroundings()), durability: first.durability };
  const running = await startServer(server, told, { core, token });
  try {
    for (const scenario of scenariosOf(group)) {
      const prepared = await kit.prepare(scenario);
      await checkAnswers(server, running.port, prepared.requests, prepared.tokens);
      if (loaded.has(server.name)) continue;
      loaded.add(server.name);
      await loadBriefly(prepared, running.port);
    }
  } finally {
    await running.stop();
  }
}

async function loadBriefly({ load }: Prepared, port: number): Promise<void> {
  for (let seconds = 1; seconds < MAX_WAIT_SECONDS; seconds *= 2) {
    const { requests, failed } = await load.run(port, 8, seconds);
    if (failed > 0) throw new Error(`${failed} of ${requests} requests failed`);
    if (requests > 0) return;
  }
  throw new Error(`nothing answered in ${MAX_WAIT_SECONDS} s of load`);
}

/** Once each, although peers have two trials where a scenario writes. */
function scenariosOf(group: readonly Trial[]): readonly Scenario[] {
  return [...new Set(group.map(({ scenario }) => scenario))];
}
