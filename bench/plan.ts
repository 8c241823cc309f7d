import type { Options } from './options.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';
import { programOf, serverNamed } from './servers.ts';
import { AWAKENING_SECONDS, type Trial, WARM_UP_SECONDS } from './trial.ts';

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
 * Trials that are open together, because their ratios are what counts and the machine changes with time: those of one
 * scenario, as often as there are runs.
 */
export function groupsOf(trials: readonly Trial[], runs: number): readonly (readonly Trial[])[] {
  return [...Map.groupBy(trials, ({ scenario }) => scenario).values()].flatMap((group) =>
    Array.from({ length: runs }, () => group),
  );
}

/** In another order each time, so that what happens meanwhile hits nobody always. */
export function shuffle<T>(values: readonly T[], random: () => number): readonly T[] {
  return values
    .map((value) => ({ value, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value);
}

/** Seconds of load that a trial is measured for, each round. */
export function secondsOf({ atLeastSeconds }: Scenario, wanted: number): number {
  return Math.max(wanted, atLeastSeconds);
}

/** About how many seconds it takes until a server can be measured, with a look at its answers. */
export function openingSeconds({ drive }: Scenario): number {
  return drive === 'start' ? 0 : WARM_UP_SECONDS + 0.7;
}

/** About how many seconds a measurement takes. */
export function measuringSeconds(scenario: Scenario, wanted: number): number {
  return scenario.drive === 'start' ? 0.7 : AWAKENING_SECONDS + secondsOf(scenario, wanted);
}
