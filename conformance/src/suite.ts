import { stateChecks } from './checks.ts';
import { heldTarget } from './held.ts';

// The file that `main.ts` lets `node:test` run, in the same process.
stateChecks(heldTarget());
