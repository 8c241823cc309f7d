import { checkAnswers } from './check.ts';
import type { Kit } from './kit.ts';
import { startServer } from './process.ts';
import type { Scenario } from './scenarios.ts';
import type { Trial } from './trial.ts';

/**
 * Every server answers each scenario correctly, and a second of load finds no failure. Nothing is timed. A server
 * is started once for the scenarios that agree in what it is told. The result is the exit code.
 */
export async function smoke(trials: readonly Trial[], kit: Kit): Promise<number> {
  const groups = Map.groupBy(trials, ({ server, scenario: { algorithm, database, todos } }) =>
    [server.name, algorithm, database, todos].join(' '),
  );
  const loaded = new Set<string>();
  let passed = 0;
  let failed = 0;
  for (const [name, group] of groups) {
    try {
      passed += await smokeGroup(group, kit, loaded);
      process.stdout.write(
        `ok    ${name}: ${scenariosOf(group)
          .map((scenario) => scenario.name)
          .join(', ')}\n`,
      );
    } catch (error) {
      failed += 1;
      process.stdout.write(`FAIL  ${name}: ${error instanceof Error ? error.message : error}\n`);
    }
  }
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

async function smokeGroup(group: readonly Trial[], kit: Kit, loaded: Set<string>): Promise<number> {
  const [first] = group;
  if (first === undefined) return 0;
  const { server } = first;
  const { surroundings, tokens } = await kit.prepare(first.scenario);
  const token = await tokens.make({ name: 'ada', role: 'editor' });
  const told = { ...(await surroundings()), durability: first.durability };
  const running = await startServer(server, told, { token });
  try {
    for (const scenario of scenariosOf(group)) {
      const prepared = await kit.prepare(scenario);
      await checkAnswers(server, running.port, prepared.requests, prepared.tokens);
      if (loaded.has(server.name)) continue;
      loaded.add(server.name);
      const { requests, failed } = await prepared.load.run(running.port, 8, 1);
      if (requests === 0 || failed > 0) throw new Error(`${failed} of ${requests} requests failed`);
    }
  } finally {
    await running.stop();
  }
  return scenariosOf(group).length;
}

/** Once each, although peers have two trials where a scenario writes. */
function scenariosOf(group: readonly Trial[]): readonly Scenario[] {
  return [...new Set(group.map(({ scenario }) => scenario))];
}
