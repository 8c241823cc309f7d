import { stateHeldChecks } from './checks.ts';

// The file that `main.ts` lets `node:test` run, in the same process.
stateHeldChecks();
