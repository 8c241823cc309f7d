import type { Options } from './options.ts';
import { pseudoRandom } from './requests.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';
import { programOf, serverNamed } from './servers.ts';
import { type Trial, WARM_UP_SECONDS } from './trial.ts';

/** Every server of every scenario that was asked for and that this machine can run. */
export function planTrials({ scenarios, servers }: Options): readonly Trial[] {
  const missing = servers.filter((name) => programOf(serverNamed(name)) === undefined);
  if (missing.length > 0) {
    process.stderr.write(
      `Left out, because Bun is not installed or does not run here: ${missing.join(', ')}\n`,
    );
  }
  return SCENARIOS.filter(({ name }) => scenarios.includes(name)).flatMap((scenario) =>
    scenario.servers
      .filter((name) => servers.includes(name) && !missing.includes(name))
      .map(serverNamed)
      .flatMap((server): readonly Trial[] => {
        const durable: Trial = { scenario, server, durability: 'durable' };
        const relaxed: Trial = { scenario, server, durability: 'relaxed' };
        if (!scenario.writes) return [relaxed];
        return server.role === 'service' ? [durable] : [durable, relaxed];
      }),
  );
}

/**
 * All runs of a scenario one after the other, because its ratios are what counts and the machine changes with
 * time; the servers in another order in each run, so that what happens meanwhile hits nobody always.
 */
export function orderOf(trials: readonly Trial[], runs: number): readonly Trial[] {
  const random = pseudoRandom(Date.now());
  return [...Map.groupBy(trials, ({ scenario }) => scenario).values()].flatMap((group) =>
    Array.from({ length: runs }, () => shuffle(group, random)).flat(),
  );
}

function shuffle<T>(values: readonly T[], random: () => number): readonly T[] {
  return values
    .map((value) => ({ value, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value);
}

/** Seconds of load that a trial is measured for. */
export function secondsOf({ atLeastSeconds }: Scenario, wanted: number): number {
  return Math.max(wanted, atLeastSeconds);
}

/** About how many seconds a trial takes, with its start and its looks at the answers. */
export function expectedSeconds({ scenario }: Trial, wanted: number): number {
  return scenario.drive === 'start' ? 2 : WARM_UP_SECONDS + secondsOf(scenario, wanted) + 0.7;
}
