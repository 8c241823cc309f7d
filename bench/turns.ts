import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Kit } from './kit.ts';
import { measuringSeconds, openingSeconds, secondsOf, shuffle } from './plan.ts';
import { pseudoRandom } from './requests.ts';
import type { Measurement } from './results.ts';
import { type OpenTrial, openTrial, type Trial } from './trial.ts';

/** What came of a trial. */
export interface Outcome {
  readonly trial: Trial;
  readonly measurements: readonly Measurement[];
  /** Then the measurements prove nothing. */
  readonly failure: string | undefined;
}

/** Called after each step of a trial: what came of it, and how many seconds it was expected to take. */
export type OnStep = (trial: Trial, outcome: Measurement | string, expectedSeconds: number) => void;

/**
 * Opens all trials of a group, and measures them in turns, so that what else the machine does hits all of them alike.
 * Nobody is asked while another is measured.
 */
export async function measureInTurns(
  group: readonly Trial[],
  kit: Kit,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
  onStep: OnStep,
): Promise<readonly Outcome[]> {
  const random = pseudoRandom(Date.now());
  const entries = group.map((trial) => new Entry(trial, onStep));
  for (const entry of entries) await entry.open(kit);
  for (let round = 0; round < rounds; round += 1) {
    for (const entry of shuffle(entries, random)) await entry.measure(seconds);
  }
  for (const entry of entries) await entry.end();
  return entries;
}

class Entry implements Outcome {
  readonly trial: Trial;
  readonly measurements: Measurement[] = [];
  failure: string | undefined;
  readonly #onStep: OnStep;
  #open: OpenTrial | undefined;

  constructor(trial: Trial, onStep: OnStep) {
    this.trial = trial;
    this.#onStep = onStep;
  }

  open(kit: Kit): Promise<void> {
    return this.#attempt(openingSeconds(this.trial.scenario), async () => {
      this.#open = await openTrial(this.trial, kit);
      return 'ready';
    });
  }

  async measure(wanted: number): Promise<void> {
    const { scenario } = this.trial;
    const open = this.#open;
    if (open === undefined || this.failure !== undefined) return;
    await this.#attempt(measuringSeconds(scenario, wanted), async () => {
      const measurement = await open.measure(secondsOf(scenario, wanted));
      this.measurements.push(measurement);
      return measurement;
    });
  }

  end(): Promise<void> {
    return this.#attempt(0, async () => {
      await this.#open?.end();
      return undefined;
    });
  }

  async #attempt(
    expectedSeconds: number,
    step: () => Promise<Measurement | string | undefined>,
  ): Promise<void> {
    try {
      const outcome = await step();
      if (outcome !== undefined) this.#onStep(this.trial, outcome, expectedSeconds);
    } catch (error) {
      this.failure ??= withoutPaths(error instanceof Error ? error.message : String(error));
      this.#onStep(this.trial, `FAILED: ${this.failure}`, expectedSeconds);
    }
  }
}

function withoutPaths(text: string): string {
  return text.replaceAll(fileURLToPath(new URL('..', import.meta.url)), '').replaceAll(tmpdir(), 'TMPDIR');
}
