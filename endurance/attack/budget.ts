import type { Figures } from './attack.ts';
import type { Scenario } from './scenarios.ts';

/** What took more than so many times its budget, a sentence each. Waits have no budget: they are the machine's, too. */
export function overBudget(scenario: Scenario, figures: Figures, times: number): string[] {
  const megabytes = figures.peak - figures.before;
  const over: string[] = [];
  if (megabytes > scenario.megabytes * times) over.push(`${megabytes.toFixed(0)} MB of memory`);
  if (figures.processorSeconds > scenario.processorSeconds * times) {
    over.push(`${figures.processorSeconds.toFixed(1)} s of the processor`);
  }
  return over;
}
